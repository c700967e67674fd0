import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const COMMAND = fileURLToPath(new URL('../../bin/tablectl.js', import.meta.url));

/** The folder of what users copy. */
export const EXAMPLES = fileURLToPath(new URL('../../examples/', import.meta.url));

/**
 * The examples' pipeline in a file of its own that notes each interval it produces, fails while there is a file `fail-LABEL` beside it, and waits while there is `wait-LABEL`, or
 * until as many processes have loaded it as READINGS_TOGETHER says. */
export interface Scheduled {
  /** The pipeline's file. */
  readonly file: string;
  readonly table: string;
  /** For processes: `tablectl` on the `PATH`, and the table. */
  readonly env: Record<string, string>;
  /** The labels of the intervals produced so far, by all processes. */
  produced(): string[];
}

export async function scheduled(folder: string): Promise<Scheduled> {
  const bin = join(folder, 'bin');
  await mkdir(bin, { recursive: true });
  symlinkSync(COMMAND, join(bin, 'tablectl'));
  const [file, table, notes] = ['readings.ts', 'readings', 'produced'].map((name) => join(folder, name));
  writeFileSync(
    file!,
    `
import { appendFileSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { definePipeline, type ProduceContext } from 'intervale';
import { readStations } from ${JSON.stringify(join(EXAMPLES, 'readings.ts'))};

const folder = ${JSON.stringify(folder)};
writeFileSync(folder + '/loaded-' + process.pid, '');
const together = Number(process.env.READINGS_TOGETHER ?? 1);
const loaded = (): number => readdirSync(folder).filter((name) => name.startsWith('loaded-')).length;

async function* produce(context: ProduceContext) {
  const { label } = context.interval;
  appendFileSync(${JSON.stringify(notes)}, label + '\\n');
  while (loaded() < together) await setTimeout(20);
  while (existsSync(${JSON.stringify(join(folder, 'wait-'))} + label)) await setTimeout(20);
  if (existsSync(${JSON.stringify(join(folder, 'fail-'))} + label)) throw new Error('no source for ' + label);
  yield* readStations(context);
}

export const readings = definePipeline({
  name: 'readings',
  table: process.env.READINGS_TABLE ?? ${JSON.stringify(table)},
  create: { schema: 'at timestamp, station string, celsius double' },
  every: 'day',
  timeZone: 'Europe/Berlin',
  start: '2024-01-01',
  column: 'at',
  produce,
});
`,
  );
  writeFileSync(notes!, '');
  return {
    file: file!,
    table: table!,
    env: {
      ...(process.env as Record<string, string>),
      PATH: `${bin}${delimiter}${process.env.PATH}`,
      READINGS_TABLE: table!,
      TMPDIR: folder,
    },
    produced: () => readFileSync(notes!, 'utf8').split('\n').filter(Boolean),
  };
}
