import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { AIRFLOW, type AirflowRun, Engines } from '../support/engines/client.js';
import { expectRows, folder, open, ownLines } from './engines.js';

const DAG = fileURLToPath(new URL('../../examples/airflow/dags/readings.py', import.meta.url));
const EXAMPLE = fileURLToPath(new URL('../../examples/readings.ts', import.meta.url));
const COMMAND = fileURLToPath(new URL('../../bin/tablectl.js', import.meta.url));
const PATIENT = { timeout: 900_000 };
const WEEK = ['03-28', '03-29', '03-30', '03-31', '04-01', '04-02', '04-03'].map((day) => `2024-${day}`);

const root = folder();
const table = join(root, 'readings');
const home = join(root, 'airflow');
const pipeline = join(root, 'killed.ts');
const environment = {
  AIRFLOW_HOME: home,
  AIRFLOW__CORE__DAGS_FOLDER: join(home, 'dags'),
  AIRFLOW__CORE__EXECUTOR: 'LocalExecutor',
  AIRFLOW__CORE__LOAD_EXAMPLES: 'False',
  AIRFLOW__CORE__PARALLELISM: '3',
  AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS: 'True',
  AIRFLOW__API_AUTH__JWT_SECRET:
    'the processes of one test know this secret and no other does, for there is none',
  // However busy the machine is, a slow answer is no failure.
  AIRFLOW__CORE__DAGBAG_IMPORT_TIMEOUT: '300',
  AIRFLOW__WORKERS__EXECUTION_API_TIMEOUT: '120',
  AIRFLOW__WORKERS__MAX_FAILED_HEARTBEATS: '100',
  // The command outlives the task that is killed, and holds its sockets open.
  AIRFLOW__WORKERS__SOCKET_CLEANUP_TIMEOUT: '1',
  PATH: `${join(root, 'bin')}:${process.env.PATH}`,
  READINGS_TABLE: table,
  READINGS_PIPELINE: pipeline,
};
let airflow: Engines;

/**
 * The pipeline of the example, with two first tries that are killed halfway: of 2024-03-30 the command itself; of 2024-04-01 Airflow's process for the task,
 * while the command goes on by itself until the second try is under way as well.
 */
const killed = `
import { existsSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { definePipeline, type ProduceContext } from 'intervale';
import { readStations } from ${JSON.stringify(EXAMPLE)};

const mark = (name: string): string => ${JSON.stringify(join(root, 'mark-'))} + name;

function isFirst(name: string): boolean {
  const isThere = existsSync(mark(name));
  writeFileSync(mark(name), '');
  return !isThere;
}

async function* produce(context: ProduceContext) {
  const day = context.interval.label;
  let rows = 0;
  for await (const row of readStations(context)) {
    yield row;
    if (++rows !== 30) continue;
    if (day === '2024-03-30' && isFirst(day)) process.kill(process.pid, 'SIGKILL');
    if (day !== '2024-04-01') continue;
    if (isFirst(day)) {
      process.kill(process.ppid, 'SIGKILL');
      for (let looks = 0; looks < 30_000 && !existsSync(mark('second')); looks++) await setTimeout(20);
    } else isFirst('second');
  }
}

export const readings = definePipeline({
  name: 'readings',
  table: process.env.READINGS_TABLE!,
  create: { schema: 'at timestamp, station string, celsius double' },
  every: 'day',
  timeZone: 'Europe/Berlin',
  start: '2024-01-01',
  column: 'at',
  produce,
});
`;

/** Added to the file of the example: a DAG with the schedule that people write first, and one whose command line is wrong. */
const mistakes = `

day = pendulum.datetime(2024, 3, 28, tz="UTC")
for name, line in (
    ("point", 'exec tablectl run "$PIPELINE" --interval "$START/$END"'),
    ("usage", 'exec tablectl run "$PIPELINE" --from "$START"'),
):
    with DAG(dag_id=name, schedule="@daily", start_date=day, end_date=day, catchup=True):
        BashOperator(
            task_id="run",
            bash_command=line,
            env={"PIPELINE": PIPELINE, "START": "{{ data_interval_start | ts }}", "END": "{{ data_interval_end | ts }}"},
            append_env=True,
            retries=1,
            retry_delay=timedelta(0),
            retry_policy=UnlessInVain(),
        )
`;

beforeAll(() => {
  mkdirSync(join(root, 'bin'));
  mkdirSync(join(home, 'dags'), { recursive: true });
  symlinkSync(COMMAND, join(root, 'bin', 'tablectl'));
  writeFileSync(pipeline, killed);
  const dag = readFileSync(DAG, 'utf8');
  const hasty = dag.replace('timedelta(minutes=1)', 'timedelta(0)');
  expect(hasty).not.toBe(dag);
  writeFileSync(join(home, 'dags', 'readings.py'), hasty + mistakes);
  airflow = Engines.start({
    environment: AIRFLOW,
    env: environment,
    log: 'airflow.log',
  });
});

afterAll(async () => {
  await airflow.ask('airflow.stop', {});
  await airflow.stop();
  const logs = fileURLToPath(new URL('../../.cache/interop/airflow', import.meta.url));
  rmSync(logs, { recursive: true, force: true });
  for (const name of readdirSync(home).filter((each) => /\.log$|^logs$/.test(each)))
    cpSync(join(home, name), join(logs, name), { recursive: true });
});

const command = (...argv: string[]) => airflow.ask('airflow.command', { argv });

/** The runs of a DAG when so many are there and none is at work, or when one more has failed than should. */
async function ended(dag: string, count: number, failures = 0): Promise<readonly AirflowRun[]> {
  for (;;) {
    const runs = await airflow.ask('airflow.runs', { dag });
    const over = runs.filter(({ state }) => state === 'success' || state === 'failed');
    const failed = over.filter(({ state }) => state === 'failed');
    if (over.length === count && runs.length === count) return runs;
    if (failed.length > failures) return runs;
    await new Promise((done) => setTimeout(done, 200));
  }
}

/** What `tablectl` tells as JSON. */
function told<T>(...args: string[]): T {
  const text = execFileSync(process.execPath, [COMMAND, ...args, '--json'], {
    encoding: 'utf8',
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return JSON.parse(text) as T;
}

interface Covered {
  readonly intervals: readonly { readonly label: string; readonly state: string; readonly attempt: number }[];
}

const range = (to: string): string[] => ['--from', WEEK[0]!, '--to', to];

const covered = (to: string) =>
  told<Covered>('coverage', table, ...range(to)).intervals.map(({ label, state, attempt }) => [
    label,
    state,
    attempt,
  ]);

/** The table that one process leaves which runs the same days and is never disturbed. */
async function cleanLines(to: string): Promise<string[]> {
  const clean = join(root, `clean-${to}`);
  execFileSync(process.execPath, [COMMAND, 'backfill', EXAMPLE, ...range(to)], {
    env: { ...process.env, READINGS_TABLE: clean },
    stdio: 'ignore',
  });
  return ownLines(await open(clean));
}

it(
  'runs a day for each data interval, and again after its process or its task was killed',
  PATIENT,
  async () => {
    await airflow.ask('airflow.start', {});
    await command('dags', 'unpause', 'readings', '--yes');
    const runs = await ended('readings', WEEK.length);
    expect(runs.map(({ state, tries }) => [state, tries])).toEqual(
      WEEK.map((day) => ['success', day === '2024-03-30' || day === '2024-04-01' ? 2 : 1]),
    );
    expect(runs[3]).toMatchObject({ start: '2024-03-30T23:00:00+00:00', end: '2024-03-31T22:00:00+00:00' });
    expect(covered('2024-04-04')).toEqual(WEEK.map((day) => [day, 'done', 1]));
    await expectRows(table, await cleanLines('2024-04-04'), ['spark', 'duckdb', 'pyarrow']);
  },
);

it('a backfill that overlaps earlier runs leaves the rows of one clean run', PATIENT, async () => {
  await command(
    ...['backfill', 'create', '--dag-id', 'readings', '--reprocess-behavior', 'completed'],
    ...['--from-date', '2024-03-31T22:00:00Z', '--to-date', '2024-04-05T22:00:00Z', '--max-active-runs', '3'],
  );
  const runs = await ended('readings', 10);
  expect(runs.map(({ state, type }) => [state, type])).toEqual([
    ...Array<unknown>(4).fill(['success', 'scheduled']),
    ...Array<unknown>(6).fill(['success', 'backfill']),
  ]);
  expect(covered('2024-04-07').map(([, state, attempt]) => [state, attempt])).toEqual([
    ...Array<unknown>(4).fill(['done', 1]),
    ...Array<unknown>(3).fill(['done', 2]),
    ...Array<unknown>(3).fill(['done', 1]),
  ]);
  await expectRows(table, await cleanLines('2024-04-07'), ['spark', 'duckdb', 'pyarrow']);
});

it(
  'an interval of zero length fails with a hint, and a wrong command line is not tried again',
  PATIENT,
  async () => {
    const { version } = await (await open(table)).snapshot();
    await command('dags', 'unpause', 'point', '--yes');
    await command('dags', 'unpause', 'usage', '--yes');
    expect(await ended('point', 1, 1)).toMatchObject([{ state: 'failed', tries: 2 }]);
    expect(await ended('usage', 1, 1)).toMatchObject([{ state: 'failed', tries: 1 }]);
    const log = readFileSync(
      join(home, 'logs/dag_id=point/run_id=scheduled__2024-03-28T00:00:00+00:00/task_id=run/attempt=2.log'),
      'utf8',
    );
    expect(log).toMatch(/an interval of zero length.*CronDataIntervalTimetable/);
    expect((await (await open(table)).snapshot()).version).toBe(version);
  },
);
