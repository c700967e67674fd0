import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { canonicalLines } from '../../src/cli/canonical.js';
import { createRuntime, createTable, openTable, parseDdl } from '../../src/index.js';
import { serializeSchema } from '../../src/schema/schema-json.js';
import { folder, rowOf, schemaOf, shared, startSpark } from './engines.js';

/** Tables whose row groups have several pages, as other engines write them with their page indexes. */
const root = folder();
const { engines } = shared();
startSpark();

const ROWS = 100_000;
/** The part of a file's bytes that finding a few rows may cost at the most: dictionaries are read whole. */
const SHARE = 0.6;
const schema = parseDdl('id long, name string, gap int, x double, note string, tags array<string>');

const hex = (text: string) => createHash('md5').update(text).digest('hex');

/** Ids and names in order, NULL alone in the first half of `gap`, some NaN, a note that does not compress. */
function cellsOf(id: number) {
  return {
    id,
    name: `n${String(id).padStart(9, '0')}`,
    gap: id < ROWS / 2 ? null : id % 10,
    x: id % 1000 === 0 ? Number.NaN : id / 4,
    note: hex(String(id)) + hex(`more ${id}`),
    tags: id % 5 === 0 ? null : [`t${id % 3}`, null],
  };
}

const SPARK_ROWS = `
  SELECT /*+ COALESCE(1) */ id, concat('n', lpad(id, 9, '0')) AS name, IF(id < ${ROWS / 2}, NULL, CAST(id % 10 AS INT)) AS gap,
    IF(id % 1000 = 0, double('NaN'), id / 4D) AS x, concat(md5(CAST(id AS STRING)), md5(concat('more ', id))) AS note,
    IF(id % 5 = 0, NULL, array(concat('t', id % 3), NULL)) AS tags
  FROM range(0, ${ROWS}, 1, 1)`;

type Cells = ReturnType<typeof cellsOf>;

/** Conditions for a few rows that lie close together. */
const LOOKUPS: readonly { where: string; holds: (cells: Cells) => boolean }[] = [
  { where: 'id = 77777', holds: ({ id }) => id === 77_777 },
  { where: 'id IN (5, 99999)', holds: ({ id }) => id === 5 || id === 99_999 },
  { where: "name = 'n000012345' OR id < 3", holds: ({ id }) => id === 12_345 || id < 3 },
  { where: 'gap = 3 AND id < 50100', holds: ({ id, gap }) => gap === 3 && id < 50_100 },
  { where: 'gap IS NULL AND id > 49990', holds: ({ id, gap }) => gap === null && id > 49_990 },
  { where: 'x BETWEEN 100 AND 100.5', holds: ({ x }) => x >= 100 && x <= 100.5 },
  {
    where: "x = double('NaN') AND id < 1500",
    holds: ({ x, id }) => Number.isNaN(x) && id < 1500,
  },
  { where: "name LIKE 'n00009%' AND id % 1000 = 7", holds: ({ id }) => id >= 90_000 && id % 1000 === 7 },
  { where: 'id = -1', holds: () => false },
];

const lineOf = ({ id, x, ...rest }: Cells) =>
  JSON.stringify({ ...rest, id: String(id), x: Number.isNaN(x) ? 'NaN' : x });

const allLines = () => Array.from({ length: ROWS }, (_, id) => lineOf(cellsOf(id)));

async function find(url: string, where: string, limit?: number) {
  let received = 0;
  const runtime = createRuntime({
    onEvent: (event) => {
      if (event.type === 'request' && event.key.endsWith('.parquet')) received += event.received;
    },
  });
  try {
    const snapshot = await (await openTable(url, { runtime })).snapshot();
    const lines: string[] = [];
    for await (const batch of snapshot.scan({ where, limit }).batches())
      lines.push(...canonicalLines(batch, snapshot.schema));
    const ids = lines.map((line) => Number(JSON.parse(line).id));
    const size = (await snapshot.files()).reduce((sum, file) => sum + Number(file.size), 0);
    return { ids: ids.sort((a, b) => a - b), lines, received, size };
  } finally {
    await runtime.close();
  }
}

const TABLES: readonly {
  by: string;
  make: (url: string) => Promise<unknown>;
  isLive?: (id: number) => boolean;
}[] = [
  {
    by: 'Spark',
    make: (url) =>
      engines.ask('spark.sql', { text: `CREATE TABLE delta.\`${url}\` USING delta AS ${SPARK_ROWS}` }),
  },
  {
    by: 'Spark, with deletion vectors, row ids and mapped columns',
    make: async (url) => {
      const properties = `'delta.enableDeletionVectors' = 'true', 'delta.columnMapping.mode' = 'name', 'delta.enableRowTracking' = 'true'`;
      const text = `CREATE TABLE delta.\`${url}\` USING delta TBLPROPERTIES (${properties}) AS ${SPARK_ROWS}`;
      await engines.ask('spark.sql', { text });
      await engines.ask('spark.sql', { text: `DELETE FROM delta.\`${url}\` WHERE id % 7 = 3` });
    },
    isLive: (id) => id % 7 !== 3,
  },
  {
    by: 'delta-rs',
    make: (url) => engines.ask('deltars.write', { url, schema: schemaOf(schema), lines: allLines() }),
  },
  ...(['1.0', '2.0'] as const).map((version) => ({
    by: `pyarrow, pages of version ${version}`,
    make: (url: string) =>
      pyarrowTable(url, {
        write_page_index: true,
        data_page_version: version,
        data_page_size: 64 * 1024,
        use_dictionary: version === '1.0',
      }),
  })),
  {
    by: 'this library',
    make: writeHere,
  },
];

async function writeHere(url: string): Promise<void> {
  const table = await createTable(url, { schema, runtime: shared().runtime });
  await table.append(allLines().map((line) => rowOf(line, schema)));
}

async function pyarrowTable(url: string, options: Record<string, unknown>): Promise<void> {
  mkdirSync(join(url, '_delta_log'), { recursive: true });
  const path = join(url, 'f.parquet');
  const size = await engines.ask('files.write', {
    path,
    schema: schemaOf(schema),
    lines: allLines(),
    options,
  });
  const metaData = {
    id: 't',
    format: { provider: 'parquet', options: {} },
    schemaString: serializeSchema(schema),
    partitionColumns: [],
    configuration: {},
  };
  const actions = [
    { protocol: { minReaderVersion: 1, minWriterVersion: 2 } },
    { metaData },
    { add: { path: 'f.parquet', partitionValues: {}, size, modificationTime: 0, dataChange: true } },
  ];
  const log = actions.map((action) => `${JSON.stringify(action)}\n`).join('');
  writeFileSync(join(url, '_delta_log/00000000000000000000.json'), log);
}

describe.each(TABLES)('pages written by $by', ({ by, make, isLive = () => true }) => {
  it('are found by their indexes, and nothing else is read', async () => {
    const url = join(root, by.replace(/\W/g, '-'));
    await make(url);
    const cells = Array.from({ length: ROWS }, (_, id) => cellsOf(id));
    for (const { where, holds } of LOOKUPS) {
      const wanted = cells.filter((each) => isLive(each.id) && holds(each));
      const { ids, lines, received, size } = await find(url, where);
      expect.soft(ids, where).toEqual(wanted.map(({ id }) => id));
      expect
        .soft(
          lines.map((line) => JSON.parse(line)),
          where,
        )
        .toEqual(expect.arrayContaining(wanted.map((each) => JSON.parse(lineOf(each)))));
      expect.soft(received / size, where).toBeLessThan(SHARE);
    }
    const { ids, received, size } = await find(url, 'id >= 60000', 10);
    expect(ids).toEqual(
      cells
        .filter(({ id }) => isLive(id) && id >= 60_000)
        .slice(0, 10)
        .map(({ id }) => id),
    );
    expect(received / size).toBeLessThan(SHARE);
  });
});

it('pages written here are found by Spark, which goes by their indexes', async () => {
  const url = join(root, 'for-spark');
  await writeHere(url);
  for (const { where, holds } of LOOKUPS) {
    const { lines } = await engines.ask('spark.read', { url, where });
    const ids = lines.map((line) => Number(JSON.parse(line).id)).sort((a, b) => a - b);
    const wanted = Array.from({ length: ROWS }, (_, id) => cellsOf(id)).filter(holds);
    expect.soft(ids, where).toEqual(wanted.map(({ id }) => id));
  }
});
