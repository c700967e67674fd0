import { cpSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createTable, parseDdl, type Table } from '../../src/index.js';
import { expectRows, folder, rowOf, schemaOf, shared, startSpark } from './engines.js';
import { linesOf, TYPES } from './values.js';

const root = folder();
const { engines, runtime } = shared();
startSpark();
// One column of each type that may be a partition column and a data column, half of them partitions.
const PARTITIONS = TYPES.filter(({ type }) => !['binary', 'float', 'double'].includes(type));
const ALL = parseDdl(
  [
    'id int',
    ...PARTITIONS.map(({ type }, i) => `p${i} ${type}`),
    ...TYPES.map(({ type }, i) => `d${i} ${type}`),
  ].join(', '),
);
const PARTITION_NAMES = PARTITIONS.map((_, i) => `p${i}`);

function rowsOfAll(count: number, firstId = 0): string[] {
  const pick = (values: readonly unknown[], i: number) => [...values, null][i % (values.length + 1)];
  return Array.from({ length: count }, (_, i) =>
    JSON.stringify({
      id: firstId + i,
      ...Object.fromEntries(PARTITIONS.map((p, n) => [`p${n}`, pick(p.partitions ?? p.values, i)])),
      ...Object.fromEntries(TYPES.map((t, n) => [`d${n}`, pick(t.values, i + 1)])),
    }),
  );
}

/** A copy of the table whose log begins with its newest checkpoint; the commit of that version stays, since Spark asks it for its time. */
function withoutHistory(url: string, name: string): string {
  const copy = join(root, name);
  cpSync(url, copy, { recursive: true });
  const log = join(copy, '_delta_log');
  const version = Math.max(
    ...readdirSync(log)
      .filter((file) => file.endsWith('.checkpoint.parquet'))
      .map((file) => Number.parseInt(file, 10)),
  );
  for (const file of readdirSync(log)) {
    const old = /^\d{20}\.(json|crc)$/.test(file) && Number.parseInt(file, 10) < version;
    if (old) rmSync(join(log, file));
  }
  return copy;
}

async function build(name: string, properties: Record<string, string>): Promise<[Table, string[]]> {
  const table = await createTable(join(root, name), {
    schema: ALL,
    partitionBy: PARTITION_NAMES,
    properties,
    runtime,
  });
  const [first, second] = [rowsOfAll(9), rowsOfAll(9, 100)];
  const rows = (lines: readonly string[]) => lines.map((line) => rowOf(line, ALL));
  await table.append(rows(first), { txn: { appId: 'writer/1', version: 7 } });
  await table.append(rows(second));
  // Replaces the partition of the first row of each, so that the checkpoint has tombstones as well.
  const [replacing] = rowsOfAll(1, 200);
  await table.overwritePartitions(rows([replacing!]));
  await table.checkpoint();
  return [table, [...first.slice(1), ...second.slice(1), replacing!]];
}

describe('a checkpoint written here as the only state', () => {
  it.each([
    ['as it comes', {}],
    [
      'with statistics as structs alone',
      { 'delta.checkpoint.writeStatsAsStruct': 'true', 'delta.checkpoint.writeStatsAsJson': 'false' },
    ],
  ])('%s: every engine reads the rows, goes on writing, and is read here', async (what, properties) => {
    const name = what.replaceAll(' ', '-');
    const [table, lines] = await build(name, properties);
    const copy = withoutHistory(table.url.replace('file://', ''), `${name}-copy`);
    await expectRows(copy, lines);
    expect(await engines.ask('deltars.transactionVersion', { url: copy, appId: 'writer/1' })).toBe(7);
    const more = rowsOfAll(1, 300);
    await engines.ask('spark.write', { url: copy, schema: schemaOf(ALL), lines: more });
    await expectRows(copy, [...lines, ...more]);
  });

  it('lets delta-rs write on, checkpoint and clean up, and is read here after it', async () => {
    const schema = parseDdl('id int, c date');
    const url = join(root, 'deltars');
    const lines = linesOf(['2024-01-01', '2024-01-02']);
    const table = await createTable(url, { schema, partitionBy: ['c'], runtime });
    await table.append(lines.map((line) => rowOf(line, schema)));
    await table.checkpoint();
    const copy = withoutHistory(url, 'deltars-copy');
    const more = linesOf(['2024-01-03'], 100);
    await engines.ask('deltars.write', { url: copy, schema: schemaOf(schema), lines: more });
    await engines.ask('deltars.checkpoint', { url: copy });
    await expectRows(withoutHistory(copy, 'deltars-copy-of-copy'), [...lines, ...more]);
  });

  it('is pruned by other engines as the log is', async () => {
    const schema = parseDdl('id int, c long');
    const url = join(root, 'pruned');
    const table = await createTable(url, { schema, partitionBy: ['c'], runtime });
    const lines = linesOf(['1', '2', '3']);
    await table.append(lines.map((line) => rowOf(line, schema)));
    await table.checkpoint();
    const copy = withoutHistory(url, 'pruned-copy');
    const where = 'c = 2 AND id >= 1';
    expect((await engines.ask('spark.read', { url: copy, where })).lines).toEqual([lines[1]]);
    expect((await engines.ask('deltars.read', { url: copy, predicate: where })).lines).toEqual([lines[1]]);
    expect((await engines.ask('spark.read', { url: copy, where: 'c IS NULL' })).lines).toEqual([lines[3]]);
  });
});
