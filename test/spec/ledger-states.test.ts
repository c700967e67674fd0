import { cp, readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import states from '../../spec/cases/ledger/states.json' with { type: 'json' };
import { openTable, type Table } from '../../src/index.js';
import { parseInterval } from '../../src/interval/argument.js';
import { serializeActions } from '../../src/log/action-lines.js';
import type { Action } from '../../src/log/actions.js';
import { commitPath } from '../../src/log/paths.js';
import { coverage } from '../../src/pipeline/coverage.js';
import type { Job } from '../../src/pipeline/job.js';
import { undoInterval } from '../../src/pipeline/undo.js';
import { removeAction } from '../../src/write/plan.js';
import { type Bench, job, openBench, rowsAt, run } from '../unit/pipeline/support.js';

let bench: Bench;
beforeAll(async () => {
  bench = await openBench('2024-01-05T12:00:00Z');
});
afterAll(() => bench.close());

const DAYS = {
  done: '2024-01-01',
  empty: '2024-01-02',
  missing: '2024-01-03',
  undone: '2024-01-04',
} as const;
const dayRows = (label: string) => rowsAt(Date.parse(label), Date.parse(label) + 86_400_000);

/** Writes the next version as another engine would. */
async function commit(of: Job, ...actions: Action[]): Promise<void> {
  const { version } = await of.table.latest.get();
  await of.table.store.putIfAbsent(commitPath(version + 1), serializeActions(actions));
}

async function keysOf(of: Job, prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const page of of.table.store.list(prefix)) keys.push(...page.map(({ key }) => key));
  return keys;
}

async function forget(of: Job): Promise<void> {
  for (const key of await keysOf(of, '_intervale/runs/')) await of.table.store.delete(key);
}

async function cleanUp(of: Job, table: Table): Promise<void> {
  const version = await table.checkpoint();
  for (const key of await keysOf(of, '_delta_log/0'))
    if (key.endsWith('.json') && key < commitPath(version)) await of.table.store.delete(key);
  await of.table.store.delete(commitPath(version));
  of.table.latest.forget();
}

/** Everything that the table holds goes, and `added` comes. */
async function exchange(of: Job, operation: string, added: Action[] = []): Promise<void> {
  const { files } = await of.table.latest.get();
  await files.load({ actions: true });
  const removes = Array.from(files.ids(), (id) => removeAction(files.add(id), 1));
  await commit(of, { commitInfo: { operation } }, ...added, ...removes);
}

const HAPPENINGS: Readonly<Record<string, (of: Job, table: Table) => Promise<Job | undefined>>> = {
  async append(_, table) {
    for (const day of Object.values(DAYS)) await table.append(dayRows(day));
    return undefined;
  },
  async delete(_, table) {
    await table.delete({ where: 'hour(ts) = 0' });
    return undefined;
  },
  async overwrite(_, table) {
    await table.overwrite(dayRows('2023-06-01'), { all: true });
    return undefined;
  },
  async restore(of) {
    await exchange(of, 'RESTORE');
    return undefined;
  },
  async replace(of) {
    const { metadata } = await of.table.latest.get();
    await exchange(of, 'CREATE OR REPLACE TABLE', [
      { metaData: { ...metadata, id: '11111111-1111-4111-8111-111111111111' } },
    ]);
    return undefined;
  },
  async rewrite(_, table) {
    await table.overwrite(await table.scan().toArray(), { all: true });
    return undefined;
  },
  async cleanup(of, table) {
    await cleanUp(of, table);
    return undefined;
  },
  async vacuum(of) {
    const { files } = await of.table.latest.get();
    const live = new Set(Array.from(files.ids(), (id) => decodeURIComponent(files.path(id))));
    for (const key of await keysOf(of, ''))
      if (!key.startsWith('_') && !live.has(key)) await of.table.store.delete(key);
    return undefined;
  },
  async forget(of) {
    await forget(of);
    return undefined;
  },
  async 'forget-cleanup'(of, table) {
    await forget(of);
    await cleanUp(of, table);
    return undefined;
  },
  async copy(of) {
    await cp(new URL(of.table.url), `${new URL(of.table.url).pathname}-copied`, { recursive: true });
    return make(`${of.table.url.slice(of.table.url.lastIndexOf('/') + 1)}-copied`);
  },
};

function make(name: string): Job {
  return job(bench, name, {
    produce: ({ interval }) => (interval.label === DAYS.empty ? [] : dayRows(interval.label)),
  });
}

describe('states of intervals after', () => {
  test.each(states.cases)('$name', async ({ what, done, empty, missing, undone }) => {
    const daily = make(`state-${what}`);
    for (const label of [DAYS.done, DAYS.empty, DAYS.undone, DAYS.undone]) await run(daily, label);
    await undoInterval(daily, parseInterval(daily.definition.calendar, DAYS.undone));
    const table = await openTable(daily.definition.url, { runtime: bench.runtime });
    const after = (await HAPPENINGS[what]!(daily, table)) ?? daily;
    const { entries } = await coverage(after);
    const found = Object.entries(DAYS).map(([name, label]) => [
      name,
      entries.find(({ interval }) => interval.label === label)!.state,
    ]);
    expect(Object.fromEntries(found)).toEqual({ done, empty, missing, undone });
  });

  test('what the format page says, for each of them', async () => {
    const page = await readFile(new URL('../../spec/FORMAT.md', import.meta.url), 'utf8');
    const table = page.slice(page.indexOf('| what happens to the table |')).split('\n\n')[0]!;
    const lines = table.trim().split('\n').slice(2);
    expect(lines).toEqual(
      states.cases.map(
        ({ name, done, empty, missing, undone }) => `| ${[name, done, empty, missing, undone].join(' | ')} |`,
      ),
    );
  });
});
