import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ran } from '../support/processes.js';
import { EXAMPLES, type Scheduled, scheduled } from '../support/scheduled.js';
import { tablectl } from '../support/tablectl.js';

const SCRIPT = join(EXAMPLES, 'cron', 'catchup.sh');
const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

async function place(): Promise<Scheduled & { readonly folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'intervale-cron-'));
  folders.push(folder);
  return { folder, ...(await scheduled(folder)) };
}

/** What a line of a shell ends with, and all that it prints. */
async function sh(line: string, env: Record<string, string>): Promise<{ code: number | null; out: string }> {
  const child = spawn('sh', ['-c', `exec 2>&1; ${line}`], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const { code, stdout } = await ran(child);
  return { code, out: stdout };
}

async function counts(table: string, to: string): Promise<Record<string, number>> {
  const { stdout } = await tablectl(['coverage', table, '--to', to, '--json']);
  return (JSON.parse(stdout) as { counts: Record<string, number> }).counts;
}

/** The command of the crontab, with the examples where they are. */
function crontabLine(file: string): string {
  const lines = readFileSync(join(EXAMPLES, 'cron', 'crontab'), 'utf8').split('\n');
  const entries = lines.filter((line) => /^[\d*]/.test(line));
  expect(entries).toHaveLength(1);
  const command = /^10 \* \* \* \* {2}(\S.*)$/.exec(entries[0]!)![1]!;
  expect(command).toContain('/srv/pipelines/readings.ts');
  return command
    .replace('/srv/pipelines/readings.ts', file)
    .replace('/srv/pipelines/', EXAMPLES)
    .replace(/$/, ' --until 2024-01-06');
}

describe('catch-ups by cron', () => {
  test('tell what failed, run the rest at the next turn, and are silent when all is well', async () => {
    const { folder, file, table, env, produced } = await place();
    const line = crontabLine(file);
    writeFileSync(join(folder, 'fail-2024-01-03'), '');
    const part = await sh(`${line} --retries 0`, env);
    expect(part).toMatchObject({ code: 3 });
    expect(part.out).toMatch(/^Part of .* failed\. The next turn/);
    expect(part.out).toContain('no source for 2024-01-03');
    rmSync(join(folder, 'fail-2024-01-03'));
    expect(await sh(line, env)).toEqual({ code: 0, out: '' });
    expect(await sh(line, env)).toEqual({ code: 0, out: '' });
    expect(produced().sort()).toEqual([1, 2, 3, 3, 4, 5].map((day) => `2024-01-0${day}`));
    expect(await counts(table, '2024-01-06')).toMatchObject({ done: 5, missing: 0 });
  });

  test('say when a person is needed', async () => {
    const { file, env } = await place();
    const wrong = await sh(`${SCRIPT} ${file} --shard 4/4`, env);
    expect(wrong).toMatchObject({ code: 2 });
    expect(wrong.out).toMatch(/cannot run like this/);
    expect(await sh(SCRIPT, env)).toMatchObject({ code: 1 });
  });

  test('end at once while the turn before is at work', async () => {
    const { folder, file, env, produced } = await place();
    const { code, out } = await sh(
      `command -v flock >/dev/null || exit 77; exec flock ${join(folder, 'held')} ${SCRIPT} ${file} --until 2024-01-03`,
      { ...env, LOCK: join(folder, 'held') },
    );
    expect([0, 77], out).toContain(code);
    expect(produced()).toEqual([]);
  });

  test('on four machines at once commit each of a hundred intervals once, and produce hardly one twice', async () => {
    const { folder, file, table, env, produced } = await place();
    const turns = await Promise.all(
      [0, 1, 2, 3].map((i) =>
        sh(`${SCRIPT} ${file} --until 2024-04-10 --no-fsync`, {
          ...env,
          LOCK: join(folder, `lock-${i}`),
          READINGS_TOGETHER: '4',
        }),
      ),
    );
    expect(turns).toEqual(Array(4).fill({ code: 0, out: '' }));
    expect(await counts(table, '2024-04-10')).toMatchObject({ done: 100, missing: 0 });
    expect(new Set(produced()).size).toBe(100);
    expect(produced().length).toBeLessThanOrEqual(105);
    const { stdout } = await tablectl(['runs', table, '--json']);
    const { runs } = JSON.parse(stdout) as { runs: { attempt: number; rows: number }[] };
    expect(runs).toHaveLength(100);
    expect(runs.every(({ attempt }) => attempt === 1)).toBe(true);
  }, 120_000);
});
