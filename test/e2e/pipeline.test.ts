import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { schemaFaults } from '../support/json-schema.js';
import { type Ran, tablectl, tablectlProcess } from '../support/tablectl.js';

const folder = mkdtempSync(join(tmpdir(), 'tablectl-pipeline-'));
const table = join(folder, 'events');
const file = join(folder, 'pipeline.ts');
const COMMAND = fileURLToPath(new URL('../../bin/tablectl.js', import.meta.url));

/** A pipeline in TypeScript, with a type and an import of its own; `FAIL` names an interval that fails, `SLOW` waits before its rows. */
const source = `
import { existsSync } from 'node:fs';
import { definePipeline, type ProduceContext } from 'intervale';

interface Event { ts: string; id: number; value: string }

export const events = definePipeline<Event>({
  name: 'events',
  table: ${JSON.stringify(table)},
  create: { schema: 'ts timestamp, id long, value string' },
  every: 'day',
  timeZone: 'Europe/Berlin',
  start: '2024-03-28',
  column: 'ts',
  codeVersion: 'v1',
  async *produce({ interval, signal }: ProduceContext) {
    if (existsSync(${JSON.stringify(join(folder, 'fail-'))} + interval.label)) throw new Error('no source for ' + interval);
    if (existsSync(${JSON.stringify(join(folder, 'slow'))})) await new Promise((done) => setTimeout(done, 150));
    if (interval.label === '2024-03-30') return;
    yield { ts: interval.start.toString(), id: 1, value: interval.label };
    yield { ts: interval.end.subtract({ seconds: 1 }).toString(), id: 2, value: String(interval.duration / 3600000) };
  },
});

export const other = definePipeline({ name: 'other', table: 'nowhere', every: 'hour', start: '2024-01-01', column: 'ts', produce: () => [] });
`;

beforeAll(() => writeFileSync(file, source));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function done(code: number, ...args: string[]): Promise<Ran> {
  const ran = await tablectl(args);
  expect(ran.code, ran.stderr).toBe(code);
  return ran;
}

// biome-ignore lint/suspicious/noExplicitAny: documents of any shape, checked by their schemas
async function document(schema: string, ...args: string[]): Promise<any> {
  const { stdout } = await done(0, ...args, '--json');
  const parsed = JSON.parse(stdout);
  expect(schemaFaults(schema, parsed)).toEqual([]);
  return parsed;
}

const events = (command: string, ...args: string[]): string[] => [
  command,
  file,
  '--pipeline',
  'events',
  ...args,
];

describe('a pipeline file', () => {
  test('is looked at before its first run without anything being created', async () => {
    const range = ['--from', '2024-03-28', '--to', '2024-04-04'];
    const plan = await document('backfill', ...events('backfill', ...range, '--dry-run'));
    expect(plan.plan).toMatchObject({ version: -1, left: {} });
    expect(plan.plan.items).toHaveLength(7);
    const found = await document('coverage', ...events('coverage', ...range));
    expect(found).toMatchObject({ version: -1, counts: { missing: 7, done: 0 } });
    const { stdout } = await done(0, ...events('coverage', ...range));
    expect(stdout).toContain(`events in file://${table}, which the first run creates, Europe/Berlin\n`);
    expect(await document('runs', ...events('runs'))).toMatchObject({ runs: [] });
    expect((await done(0, ...events('gaps', ...range))).stdout).toBe(
      '2024-03-27T23:00:00Z/2024-04-03T22:00:00Z\n',
    );
    expect((await done(5, ...events('verify', '--interval', '2024-03-28'))).stdout).toContain('not-run');
    expect((await done(1, ...events('undo', '--interval', '2024-03-28'))).stderr).toContain(
      'nothing to undo',
    );
    expect(existsSync(table)).toBe(false);
  });

  test('runs one interval, by its label or its instants', async () => {
    const first = await document('run', ...events('run', '--interval', '2024-03-31'));
    expect(first).toMatchObject({
      status: 'committed',
      attempt: 1,
      rows: 2,
      version: 1,
      url: `file://${table}`,
    });
    expect(first.interval).toEqual({
      label: '2024-03-31',
      start: '2024-03-30T23:00:00Z',
      end: '2024-03-31T22:00:00Z',
    });
    const again = await done(0, ...events('run', '--interval', '2024-03-30T23:00:00Z/2024-03-31T22:00:00Z'));
    expect(again.stdout).toContain('committed 2 rows as version 2: 2024-03-31, attempt 2');
    const { stdout } = await done(0, 'cat', table);
    expect(stdout).toContain('23');
  });

  test.each([
    [['run', '--interval', '2024-03-31/2024-03-31'], 1, /zero length/],
    [['run', '--interval', '2024-03'], 1, /several intervals|before its start|no bound/],
    [['run'], 2, /--interval/],
    [['backfill', '--reprocess', 'some'], 2, /reprocess/],
    [['backfill', '--shard', '4/4'], 2, /shard/],
    [['backfill', '--from', '2024-03-31T06:00'], 1, /nearest/],
  ])('refuses %j', async ([command, ...args], code, message) => {
    expect((await done(code, ...events(command!, ...args))).stderr).toMatch(message);
  });

  test('has to be named where there are several', async () => {
    expect((await done(1, 'run', file, '--interval', '2024-03-31')).stderr).toContain('events, other');
    expect((await done(1, 'run', file, '--interval', '2024-03-31', '--pipeline', 'x')).stderr).toContain(
      'no pipeline',
    );
  });

  test.each([
    ['export const x: = 1;', /could not be loaded: ParseError: Unexpected token .*file\.ts:1:\d+$/m],
    [
      "import 'no-such-package';",
      /could not be loaded: Cannot find module 'no-such-package' \(at .*file\.ts:1:\d+\)$/m,
    ],
    ["throw new Error('no token');", /could not be loaded: no token \(at .*file\.ts:1:\d+\)$/m],
    ['export const x = 1;', /has no pipelines\. Export what definePipeline gives/],
    [
      "import { definePipeline } from 'intervale'; export const p = definePipeline({ name: 'p', timezone: 'UTC' });",
      /no option timezone\. Did you mean timeZone\?$/m,
    ],
  ])('that is %j says what is wrong, and where', async (text, message) => {
    const wrong = join(folder, 'file.ts');
    writeFileSync(wrong, text);
    expect((await done(1, 'run', wrong, '--interval', '2024-03-31')).stderr).toMatch(message);
  });

  test.each([['run', '--interval', '2024-03-31'], ['backfill'], ['catchup'], ['verify']])(
    'is what %s needs, not a table',
    async (command, ...args) => {
      expect((await done(2, command!, table, ...args)).stderr).toMatch(/is no TypeScript or JavaScript file/);
    },
  );

  test('that is not there is named', async () => {
    const { stderr } = await done(1, 'backfill', join(folder, 'none.ts'));
    expect(stderr).toBe(`error: There is no pipeline file ${join(folder, 'none.ts')}.\n`);
  });

  test('tells where its code fails, in the error, the document and the note', async () => {
    const failing = join(folder, 'failing.ts');
    const place = `${failing}:5:26`;
    writeFileSync(
      failing,
      `import { definePipeline } from 'intervale';
const source: any = undefined;
const options = { table: ${JSON.stringify(join(folder, 'failing'))}, create: { schema: 'ts timestamp' }, every: 'day' };
export const failing = definePipeline({ ...options, name: 'failing', start: '2024-03-28', column: 'ts',
  produce: () => [source.rows] });
export default failing;
`,
    );
    const { stderr, stdout } = await done(1, 'run', failing, '--interval', '2024-03-28', '--json');
    expect(stderr).toContain(`error: Cannot read properties of undefined (reading 'rows') (at ${place})`);
    const { error } = JSON.parse(stdout);
    expect(error).toMatchObject({ code: 'PIPELINE', kind: 'input', context: { place } });
    expect(schemaFaults('error', { error })).toEqual([]);
    expect((await done(0, 'runs', failing)).stdout).toContain(`(reading 'rows') (at ${place})`);
    const { stdout: nothing } = await done(5, 'verify', failing, '--interval', '2024-03-28');
    expect(nothing).toBe('2024-03-28 not-run\n');
  });

  test('is planned, backfilled in part, and resumed', async () => {
    const range = ['--from', '2024-03-28', '--to', '2024-04-04'];
    const plan = await done(0, ...events('backfill', ...range, '--dry-run'));
    expect(plan.stdout).toMatch(/plan: 6 intervals of events .*left alone: 1 done/);
    expect(plan.stderr).toContain(
      'range: from 2024-03-27T23:00:00Z (2024-03-28T00:00+01:00 in Europe/Berlin)',
    );
    writeFileSync(join(folder, 'fail-2024-04-02'), '');
    const part = await done(3, ...events('backfill', ...range, '--retries', '0', '--max-active', '3'));
    expect(part.stdout).toContain('5 committed, 1 failed');
    expect(part.stderr).toContain('no source for 2024-04-02');
    expect(part.stderr).toMatch(
      /2024-03-28 to 2024-03-30 .* 3 {2}missing {8}1 {17}0\n2024-04-01 to 2024-04-03 /,
    );
    expect(part.stderr).toContain(
      `what is left is run by: tablectl backfill ${file} --from 2024-03-28 --to 2024-04-04 --max-active 3 --retries 0 --pipeline events\n`,
    );
    const failed = await document('runs', ...events('runs'));
    expect(failed.runs.at(-1)).toMatchObject({ status: 'failed', label: '2024-04-02' });
    rmSync(join(folder, 'fail-2024-04-02'));
    const { plan: left, report } = await document('backfill', ...events('backfill', ...range));
    expect(left.items.map(({ interval }: { interval: { label: string } }) => interval.label)).toEqual([
      '2024-04-02',
    ]);
    expect(report.counts).toMatchObject({ committed: 1, failed: 0 });
    expect((await document('backfill', ...events('backfill', ...range))).plan.items).toEqual([]);
    const until = await done(0, ...events('catchup', '--until', '2024-04-03T15:00', '--dry-run'));
    expect(until.stdout).toContain('plan: 0 intervals');
    expect(until.stderr).toContain('2024-04-03T13:00:00Z (2024-04-03T15:00+02:00 in Europe/Berlin)');
  });

  test('names what is left of a backfill of everything', async () => {
    const all = ['--from', '2024-03-28', '--to', '2024-04-04', '--reprocess', 'all', '--retries', '0'];
    for (const label of ['2024-03-29', '2024-03-30', '2024-04-03'])
      writeFileSync(join(folder, `fail-${label}`), '');
    const { stderr } = await done(3, ...events('backfill', ...all));
    const spans = ['2024-03-28T23:00:00Z/2024-03-30T23:00:00Z', '2024-04-02T22:00:00Z/2024-04-03T22:00:00Z'];
    const left = spans.map((span) => `--interval ${span}`).join(' ');
    expect(stderr).toContain(
      `run by: tablectl backfill ${file} --reprocess all --retries 0 --pipeline events ${left}\n`,
    );
    for (const label of ['2024-03-29', '2024-03-30', '2024-04-03']) rmSync(join(folder, `fail-${label}`));
    const args = stderr
      .slice(stderr.indexOf('tablectl ') + 'tablectl '.length)
      .trim()
      .split(' ');
    expect((await done(0, ...args)).stdout).toMatch(/^3 committed in /);
  });

  test('shows a bar on a terminal, and then what failed', async () => {
    writeFileSync(join(folder, 'fail-2024-04-14'), '');
    const args = events('backfill', '--from', '2024-04-08', '--to', '2024-04-23', '--retries', '0');
    const { code, stderr } = await tablectl(args, { answers: true });
    rmSync(join(folder, 'fail-2024-04-14'));
    expect(code).toBe(3);
    expect(stderr).toMatch(/\u2588.* 15 of 15 intervals, 28 rows, \d+\.\d a second/);
    expect(stderr).toMatch(/2024-04-14 .*failed.*: no source for 2024-04-14/);
    expect(stderr).not.toContain('committed');
  });

  test('that is cut otherwise than its runs is refused, not shown as missing', async () => {
    writeFileSync(file, source.replace('Europe/Berlin', 'UTC'));
    for (const command of ['coverage', 'gaps', 'backfill'])
      expect((await done(1, ...events(command, '--to', '2024-04-04'))).stderr).toMatch(
        /recorded at .* as every day in Europe\/Berlin by ts timestamp, replace, and is now defined as every day in UTC/,
      );
    writeFileSync(file, source);
  });

  test('whose table is not there says how it could be', async () => {
    const lost = events('run', '--interval', '2024-03-31').map((arg) => (arg === 'events' ? 'other' : arg));
    expect((await done(1, ...lost)).stderr).toMatch(/error: 2024-03-31 covers several intervals/);
    lost[lost.length - 1] = '2024-03-31T05:00Z';
    expect((await done(1, ...lost)).stderr).toMatch(
      /There is no Delta table at file:.*nowhere\. Check the table of the pipeline other, or say in its option create/,
    );
  });

  test('is told which rows are not of the interval', async () => {
    writeFileSync(file, source.replace('.subtract({ seconds: 1 })', ''));
    expect((await done(1, ...events('run', '--interval', '2024-04-01'))).stderr).toMatch(
      /1 of the rows that events produced for 2024-04-01 is not provably of it \(ts >= .*\); for example one with ts = 2024-04-01T22:00:00Z\. Nothing was committed\./,
    );
    writeFileSync(file, source.replace("column: 'ts'", "column: 'tss'"));
    expect((await done(1, ...events('run', '--interval', '2024-04-01'))).stderr).toMatch(/Did you mean ts\?/);
    writeFileSync(file, source);
  });

  test('is in the history of its table', async () => {
    const { stdout } = await done(0, 'history', table);
    expect(stdout).toMatch(/change +run +engine\n/);
    expect(stdout).toMatch(/ WRITE .* events 2024-03-31 #2 +intervale\//);
  });

  test('tells its coverage, from the file or the table', async () => {
    const range = ['--from', '2024-03-28', '--to', '2024-04-06'];
    const found = await document('coverage', ...events('coverage', ...range));
    expect(found.counts).toMatchObject({ done: 6, empty: 1, missing: 2 });
    expect((await document('coverage', 'coverage', table, ...range)).intervals).toEqual(found.intervals);
    const { stdout } = await done(0, 'coverage', table, ...range);
    expect(stdout.split('\n').slice(1, 3)).toEqual([
      '2024-03  \u25a0\u25a0\u25a1\u25a0',
      '2024-04  \u25a0\u25a0\u25a0\u00b7\u00b7',
    ]);
    const { gaps } = await document('gaps', 'gaps', table, ...range);
    expect(gaps).toEqual([{ start: '2024-04-03T22:00:00Z', end: '2024-04-05T22:00:00Z' }]);
  });

  test('tells keys that lie in two intervals', async () => {
    const range = ['--from', '2024-03-28', '--to', '2024-04-06'];
    const { keys } = await document('coverage', 'coverage', table, ...range, '--keys', 'id');
    expect(keys).toMatchObject({ columns: ['id'], count: 2 });
    expect(keys.examples.find(({ key }: { key: { id: number } }) => key.id === 1).intervals).toHaveLength(6);
    const { stdout } = await done(0, 'coverage', table, ...range, '--keys', 'id');
    expect(stdout).toContain('2 keys in two intervals or more:\n');
    expect(stdout).toMatch(/ {2}\{"id":1\} in 2024-03-28, .* and 1 more\n/);
    const { stdout: none } = await done(0, 'coverage', table, '--keys', 'id,ts');
    expect(none).toContain('no key of id, ts lies in two intervals\n');
    await done(1, 'coverage', table, '--keys');
  });

  test('takes intervals that were named wherever they lie', async () => {
    const open = await done(0, ...events('backfill', '--interval', '2100-01-01', '--dry-run'));
    expect(open.stdout).toContain('plan: 0 intervals');
    expect(open.stdout).toContain('left alone: 1 open');
    expect((await done(1, ...events('backfill', '--interval', '2024-03-01'))).stderr).toContain(
      "before the pipeline's start",
    );
    const may = await done(0, ...events('backfill', '--interval', '2024-05', '--dry-run'));
    expect(may.stdout).toContain('plan: 31 intervals');
  });

  test('tells when there is nothing to tell', async () => {
    const none = ['--from', '2024-06-01', '--to', '2024-06-03'];
    expect((await done(0, ...events('runs', ...none))).stderr).toContain('no runs');
    expect(
      (await document('runs', ...events('runs', '--from', '2024-04-02', '--to', '2024-04-03'))).runs,
    ).toHaveLength(1);
    expect((await done(0, ...events('verify', ...none))).stderr).toContain('nothing to verify');
    expect((await done(0, ...events('gaps', '--to', '2024-03-30'))).stderr).toContain('no gaps');
  });

  test('is verified, blamed and undone', async () => {
    const same = await document('verify', ...events('verify', '--to', '2024-04-04', '--sample', '3'));
    expect(same.intervals.map(({ status }: { status: string }) => status)).toEqual(['same', 'same', 'same']);
    writeFileSync(file, source.replace('value: interval.label', "value: interval.label + '!'"));
    const differs = await done(5, ...events('verify', '--interval', '2024-04-01'));
    expect(differs.stdout).toMatch(/\+ .*"2024-04-01!"[\s\S]*- .*"2024-04-01"/);
    await done(0, ...events('run', '--interval', '2024-04-01'));
    const { rows } = await document('blame', 'blame', table, '--where', "value = '2024-04-01!'");
    expect(rows).toMatchObject([
      { rows: 1, interval: { label: '2024-04-01' }, run: { attempt: 3, codeVersion: 'v1' } },
    ]);
    expect(await document('run', 'undo', table, '--interval', '2024-04-01')).toMatchObject({
      status: 'committed',
      attempt: 4,
    });
    expect((await done(0, 'cat', table)).stdout).not.toContain('2024-04-01!');
    writeFileSync(file, source);
  });

  test.each(['that heeds its signal', 'that does not'])(
    'is interrupted in a source %s, and leaves nothing',
    async (how) => {
      const url = join(folder, `stuck ${how}`);
      const stuck = join(folder, 'stuck.ts');
      const heed =
        how === 'that does not' ? '' : "signal.addEventListener('abort', () => fail(signal.reason));";
      writeFileSync(
        stuck,
        `import { definePipeline } from 'intervale';
export const stuck = definePipeline({
  name: 'stuck', table: ${JSON.stringify(url)}, create: { schema: 'ts timestamp' }, every: 'day', start: '2024-03-28', column: 'ts',
  async *produce({ interval, signal }) {
    for (let i = 0; i < 20_000; i++) yield { ts: interval.start };
    console.error('waiting');
    setTimeout(() => undefined, 60_000);
    await new Promise((_, fail) => { ${heed} });
  },
});
`,
      );
      const child = spawn(process.execPath, [COMMAND, 'run', stuck, '--interval', '2024-03-28']);
      let told = '';
      child.stderr.on('data', (text: Buffer) => {
        told += text.toString();
        if (text.includes('waiting')) child.kill('SIGINT');
      });
      expect(await new Promise((resolve) => child.on('close', resolve)), told).toBe(130);
      expect(told).toContain('interrupted: nothing was committed.');
      expect(readdirSync(url).sort()).toEqual(['_delta_log', '_intervale']);
      expect(await document('runs', 'runs', stuck)).toMatchObject({ runs: [] });
    },
  );

  test('stops at an interrupt with what was done, and goes on later', async () => {
    writeFileSync(join(folder, 'slow'), '');
    const args = events('backfill', '--from', '2024-05-01', '--to', '2024-05-21');
    const child = spawn(process.execPath, [COMMAND, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let told = '';
    let isStopping = false;
    child.stderr.on('data', (text: Buffer) => {
      told += text.toString();
      if (isStopping || !told.includes('2024-05-02 committed')) return;
      isStopping = true;
      child.kill('SIGINT');
    });
    const code = await new Promise((resolve) => child.on('close', resolve));
    rmSync(join(folder, 'slow'));
    expect(code, told).toBe(130);
    expect(told).toContain('what is left is run by: tablectl backfill');
    const { counts } = await document(
      'coverage',
      ...events('coverage', '--from', '2024-05-01', '--to', '2024-05-21'),
    );
    expect(counts.done).toBeGreaterThanOrEqual(2);
    expect(counts.missing).toBeGreaterThan(10);
    const rest = await tablectlProcess(args);
    expect(rest).toMatchObject({ code: 0 });
    expect(rest.stdout).toContain(`${counts.missing} committed`);
  });
});
