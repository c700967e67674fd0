import { Command } from 'commander';
import { expect, test } from 'vitest';
import { withExecution, withPipeline, withRange } from '../../../../src/cli/pipeline/options.js';
import { resumeCommand } from '../../../../src/cli/pipeline/resume.js';
import { Calendar } from '../../../../src/interval/calendar.js';
import type { BackfillReport, IntervalOutcome } from '../../../../src/pipeline/backfill.js';

const days = [...new Calendar({ every: 'day' }).between(Date.UTC(2024, 0, 1), Date.UTC(2024, 0, 6))];

function report(...statuses: IntervalOutcome['status'][]): BackfillReport {
  const outcomes = statuses.map((status, i) => ({ interval: days[i]!, status }));
  return { outcomes } as unknown as BackfillReport;
}

function parsed(...args: string[]): Command {
  const command = new Command('backfill')
    .argument('<file>')
    .option('--reprocess <which>')
    .action(() => undefined);
  return withPipeline(withExecution(withRange(command))).parse(args, { from: 'user' });
}

const part = report('committed', 'failed', 'not-run', 'committed', 'not-run');

test('what is missing or stale is run by the same command', () => {
  expect(resumeCommand(parsed('p.ts'), part)).toBe('tablectl backfill p.ts');
  const args = [
    'my file.ts',
    '--from',
    '2024-01-01',
    '--reprocess',
    'stale',
    '--max-active',
    '4',
    '--no-fsync',
    '--json',
  ];
  expect(resumeCommand(parsed(...args, '--shard', '1/4'), part)).toBe(
    "tablectl backfill 'my file.ts' --reprocess stale --from 2024-01-01 --max-active 4 --shard 1/4 --no-fsync --json",
  );
});

test('what was to be done once is not done again', () => {
  expect(resumeCommand(parsed('p.ts', '--migrate', '--path-style'), part)).toBe(
    'tablectl backfill p.ts --path-style',
  );
});

test('of everything what is left is named', () => {
  expect(resumeCommand(parsed('p.ts', '--to', '2024-01-06', '--reprocess', 'all'), part)).toBe(
    'tablectl backfill p.ts --reprocess all --interval 2024-01-02T00:00:00Z/2024-01-04T00:00:00Z --interval 2024-01-05T00:00:00Z/2024-01-06T00:00:00Z',
  );
});
