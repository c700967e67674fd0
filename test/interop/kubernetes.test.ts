import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { AIRFLOW, pythonOf } from '../support/engines/client.js';
import { type Ran, ran } from '../support/processes.js';
import { EXAMPLES, type Scheduled, scheduled } from '../support/scheduled.js';
import { expectRows, folder, open, ownLines } from './engines.js';

interface Container {
  readonly command: readonly string[];
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
}

interface JobSpec {
  readonly completionMode: string;
  readonly completions: number;
  readonly parallelism: number;
  readonly backoffLimitPerIndex: number;
  readonly podFailurePolicy: {
    readonly rules: readonly {
      readonly action: string;
      readonly onExitCodes?: { readonly operator: string; readonly values: readonly number[] };
    }[];
  };
  readonly template: {
    readonly spec: { readonly restartPolicy: string; readonly containers: readonly [Container] };
  };
}

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly spec: JobSpec & { readonly jobTemplate: { readonly spec: JobSpec } };
}

const root = folder();
const WHERE = { file: '/app/readings.ts', table: 's3://lake/readings' };
let job: Manifest;
let cronJob: Manifest;
let example: Scheduled;

beforeAll(async () => {
  const python = pythonOf(AIRFLOW);
  const read = 'import json, sys, yaml; print(json.dumps(list(yaml.safe_load_all(sys.stdin))))';
  [job, cronJob] = ['backfill', 'catchup'].map((name) => {
    const text = readFileSync(join(EXAMPLES, 'kubernetes', `${name}.yaml`));
    const documents = JSON.parse(execFileSync(python, ['-c', read], { input: text, encoding: 'utf8' }));
    expect(documents).toHaveLength(1);
    return documents[0] as Manifest;
  }) as [Manifest, Manifest];
  example = await scheduled(root);
});

/** Runs what a pod would, its file and table being those of the test. `onTold` hears of what it tells so far. */
function pod(
  { command, args, env }: Container,
  more: readonly string[],
  index: number | undefined,
  onTold?: (text: string, signal: (name: NodeJS.Signals) => void) => void,
): Promise<Ran> {
  expect(args).toContain(WHERE.file);
  expect(env).toContainEqual({ name: 'READINGS_TABLE', value: WHERE.table });
  const line = [...command, ...args, ...more].map((word) => (word === WHERE.file ? example.file : word));
  const child = spawn(line[0]!, line.slice(1), {
    env: { ...example.env, ...(index === undefined ? {} : { JOB_COMPLETION_INDEX: String(index) }) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return ran(child, onTold);
}

it('an indexed Job runs each of a hundred days once, by pods that fail, stop and come again', async () => {
  const { spec, kind, apiVersion } = job;
  const [container] = spec.template.spec.containers;
  expect([apiVersion, kind, spec.completionMode]).toEqual(['batch/v1', 'Job', 'Indexed']);
  expect(spec.template.spec.restartPolicy).toBe('Never');
  expect(spec.parallelism).toBe(spec.completions);
  expect(container.args).toContain(`--shard=/${spec.completions}`);
  const fatal = spec.podFailurePolicy.rules.find(({ action }) => action === 'FailJob')!.onExitCodes!;
  expect(fatal).toMatchObject({ operator: 'In', values: [2, 6] });

  const failing = join(root, 'fail-2024-02-10');
  // Keep the last pod at its second and third day until it has heard that it is to stop.
  const waiting = ['08', '12'].map((day) => join(root, `wait-2024-01-${day}`));
  for (const path of [failing, ...waiting]) writeFileSync(path, '');
  const codes = await Promise.all(
    Array.from({ length: spec.completions }, async (_, index) => {
      const seen: (number | null)[] = [];
      let isTold = false;
      for (let tries = 0; tries <= spec.backoffLimitPerIndex; tries++) {
        const { code } = await pod(container, ['--retries=0', '--no-fsync'], index, (told, signal) => {
          if (index !== 3 || !told.includes('2024-01-04 committed')) return;
          if (!isTold) signal('SIGTERM');
          isTold = true;
          if (told.includes('stopping')) for (const path of waiting) rmSync(path, { force: true });
        });
        seen.push(code);
        if (code === 0) break;
        expect(fatal.values).not.toContain(code);
        if (code === 3 && existsSync(failing)) rmSync(failing);
      }
      return seen;
    }),
  );
  // The day that fails is the forty-first of the range.
  expect(codes).toEqual([[3, 0], [0], [0], [130, 0]]);
  const produced = example.produced().sort();
  expect(new Set(produced).size).toBe(100);
  expect(produced.filter((label, i) => label === produced[i - 1])).toEqual(['2024-02-10']);

  const clean = join(root, 'clean');
  execFileSync(
    'tablectl',
    ['backfill', join(EXAMPLES, 'readings.ts'), '--from=2024-01-01', '--to=2024-04-10'],
    {
      env: { ...example.env, READINGS_TABLE: clean },
      stdio: 'ignore',
    },
  );
  await expectRows(example.table, await ownLines(await open(clean)), ['spark', 'duckdb', 'pyarrow']);
});

it('a CronJob runs what has ended since', async () => {
  const [container] = cronJob.spec.jobTemplate.spec.template.spec.containers;
  expect([cronJob.apiVersion, cronJob.kind]).toEqual(['batch/v1', 'CronJob']);
  const { code, stdout } = await pod(container, ['--until=2024-04-12'], undefined);
  expect(code).toBe(0);
  const { plan, report } = JSON.parse(stdout) as {
    plan: { items: { interval: { label: string } }[] };
    report: { counts: Record<string, number> };
  };
  expect(plan.items.map(({ interval }) => interval.label)).toEqual(['2024-04-10', '2024-04-11']);
  expect(report.counts).toMatchObject({ committed: 2, failed: 0 });
});
