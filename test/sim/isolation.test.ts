import { afterAll, expect, test } from 'vitest';
import { createRuntime, createTable, openTable } from '../../src/index.js';
import { ddlOf } from '../support/model/cells.js';
import { generate } from '../support/model/generate.js';
import { runOperation, stageOperation } from '../support/model/run-here.js';
import { linesOf, readLines } from '../support/model/run-sequence.js';
import { applyOperation, type Model, type Operation } from '../support/model/steps.js';

const runtimes = [createRuntime({ workers: 1 }), createRuntime({ workers: 1 })] as const;
afterAll(() => Promise.all(runtimes.map((runtime) => runtime.close())));

const FIRST = Number(process.env.DIFF_SEEDS ?? 1);
const COUNT = Number(process.env.DIFF_COUNT ?? 40);
const TABLE = { columns: ['id', 'n', 's', 'p'], partitionBy: ['p'] } as const;
const PROPERTIES: readonly Record<string, string>[] = [
  { 'delta.isolationLevel': 'WriteSerializable' },
  { 'delta.isolationLevel': 'WriteSerializable', 'delta.enableDeletionVectors': 'true' },
  { 'delta.isolationLevel': 'WriteSerializable', 'delta.enableChangeDataFeed': 'true' },
];

const apply = (model: Model, operation: Operation): Model => {
  const outcome = applyOperation(model, operation);
  return 'refused' in outcome ? model : outcome;
};

function orders<T>(all: readonly T[]): T[][] {
  if (all.length <= 1) return [[...all]];
  return all.flatMap((each, i) => orders(all.filter((_, at) => at !== i)).map((rest) => [each, ...rest]));
}

test('write-serializable verbs, overtaken by appends and others, leave what some order of them leaves', async () => {
  for (let seed = FIRST; seed < FIRST + COUNT; seed++) {
    const properties = PROPERTIES[seed % PROPERTIES.length]!;
    const table = { ...TABLE, properties };
    const operations = generate(seed, { steps: 40, table, verbsOnly: true }).steps as readonly Operation[];
    const appends = operations.filter(({ op }) => op === 'append');
    const others = operations.filter(({ op }) => op !== 'append');
    const url = `memory://isolation-${seed}`;
    const ours = await createTable(url, {
      schema: ddlOf(TABLE.columns),
      partitionBy: TABLE.partitionBy,
      properties,
      runtime: runtimes[0],
    });
    const theirs = await openTable(url, { runtime: runtimes[1] });
    let model: Model = { ...TABLE, rows: [] };
    for (const append of appends.slice(0, 3)) {
      await runOperation(ours, append).catch(() => undefined);
      model = apply(model, append);
    }
    const [slow, quick] = others as [Operation, Operation];
    const between = [...appends.slice(3, 5), ...(seed % 2 === 0 ? [quick] : [])];
    const racing = [slow, ...(seed % 4 === 0 ? between.reverse() : between)];
    const staged = await stageOperation(ours, slow).catch(() => undefined);
    for (const each of racing.slice(1)) await runOperation(theirs, each).catch(() => undefined);
    await staged?.commit().catch(() => undefined);
    const { version } = await ours.snapshot();
    const wanted = orders(racing).map((order) => linesOf(order.reduce(apply, model)).join('\n'));
    expect(wanted, `seed ${seed}`).toContain((await readLines(ours, version)).join('\n'));
  }
});
