import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ran, ran } from '../support/processes.js';
import { type Scheduled, scheduled } from '../support/scheduled.js';
import { tablectl } from '../support/tablectl.js';

const folder = mkdtempSync(join(tmpdir(), 'intervale-outside-'));
const derived = join(folder, 'derived.ts');
let source: Scheduled;

beforeAll(async () => {
  source = await scheduled(folder);
  writeFileSync(
    derived,
    `
import { definePipeline } from 'intervale';
export const counts = definePipeline({
  name: 'counts',
  table: ${JSON.stringify(join(folder, 'counts'))},
  create: { schema: 'day date, readings long' },
  every: 'day',
  start: '2024-01-01',
  column: 'day',
  async *produce({ interval, read }) {
    let readings = 0n;
    for await (const batch of (await read(${JSON.stringify(source.table)})).batches()) readings += BigInt(batch.numRows);
    yield { day: interval.label, readings };
  },
});
`,
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the command in a process; `onTold` hears what it has told people so far, and may send signals. */
function start(
  args: readonly string[],
  onTold?: (told: string, kill: (signal: NodeJS.Signals) => void) => void,
): Promise<Ran> {
  const child = spawn('tablectl', args, { env: source.env, stdio: ['ignore', 'pipe', 'pipe'] });
  return ran(child, onTold);
}

// biome-ignore lint/suspicious/noExplicitAny: documents of any shape
async function json(...args: string[]): Promise<any> {
  const { code, stdout, stderr } = await tablectl([...args, '--json']);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
}

describe('a backfill', () => {
  const waiting = join(folder, 'wait-2024-01-03');
  const range = ['--from', '2024-01-01', '--to', '2024-01-06'];

  test('ends at once at the second interrupt, and goes on later', async () => {
    writeFileSync(waiting, '');
    let sent = 0;
    const { code, stderr } = await start(['backfill', source.file, ...range], (text, kill) => {
      if (sent === 0 && text.includes('2024-01-02 committed')) sent = 1;
      else if (sent === 1 && text.includes('stopping')) sent = 2;
      else return;
      kill('SIGINT');
    });
    // Its third day never ends.
    expect([code, sent], stderr).toEqual([130, 2]);
    rmSync(waiting);
    const { counts } = await json('coverage', source.table, ...range);
    expect(counts).toMatchObject({ done: 2, missing: 3 });
    expect(await start(['backfill', source.file, ...range])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^3 committed in /),
    });
  });

  test('the command that it tells runs what is left, in a shell', async () => {
    const failing = join(folder, 'fail-2024-01-08');
    writeFileSync(failing, '');
    const options = ['--from=2024-01-06', '--to=2024-01-10', '--retries=0', '--reprocess', 'completed'];
    const part = await start(['backfill', source.file, ...options]);
    expect(part.code, part.stderr).toBe(3);
    rmSync(failing);
    const resume = /what is left is run by: (.*)/.exec(part.stderr)![1]!;
    const child = spawn('sh', ['-c', resume], { env: source.env, stdio: ['ignore', 'pipe', 'pipe'] });
    const { code, stdout, stderr } = await ran(child);
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/^1 committed in /);
  });
});

test('a run as recorded reads what the last one read', async () => {
  const run = ['run', derived, '--interval', '2024-01-01'];
  const first = await json(...run);
  await json('run', source.file, '--interval', '2024-01-20');
  expect((await tablectl(['verify', derived, '--interval', '2024-01-01'])).code).toBe(5);
  expect((await tablectl(['verify', derived, '--interval', '2024-01-01', '--as-recorded'])).code).toBe(0);
  const again = await json(...run, '--as-recorded');
  expect(again).toMatchObject({ attempt: 2, digest: first.digest });
  expect((await json(...run)).digest).not.toBe(first.digest);
});

test('every document names the table by the same URL, however it was given', async () => {
  const url = pathToFileURL(source.table).href;
  const shown = relative(process.cwd(), source.table);
  const interval = ['--interval', '2024-01-02'];
  for (const command of [
    ['coverage', shown],
    ['runs', shown],
    ['gaps', shown],
    ['blame', shown, '--where', "station = 'hill'"],
    ['undo', shown, ...interval],
    ['run', source.file, ...interval],
    ['verify', source.file, ...interval],
    ['runs', source.file],
  ])
    expect((await json(...command)).url, command.join(' ')).toBe(url);
});
