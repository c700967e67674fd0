import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { createTable } from '../../src/index.js';
import { opened, places } from '../support/places.js';

/** For how long services are killed and started again at each place. */
const DURATION_MS = Number(process.env.WRITER_KILLED_SECONDS ?? 7) * 1_000;
const SCRIPT = fileURLToPath(new URL('../support/service-process.js', import.meta.url));
const OTHER_AT_WORK = 4;

/** What a service was told of its rows, over all its lives. */
interface Life {
  acknowledged: number;
  kills: number;
}

function start(argument: object, life: Life): { child: ChildProcess; ended: Promise<number | null> } {
  const child = spawn(process.execPath, [SCRIPT, JSON.stringify(argument)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let line = '';
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    said += chunk;
  });
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (line + chunk).split('\n');
    line = lines.pop()!;
    for (const n of lines) if (n !== 'ready') life.acknowledged = Math.max(life.acknowledged, Number(n));
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('close', (code) =>
      code === 0 || code === null || code === OTHER_AT_WORK
        ? resolve(code)
        : reject(new Error(`The service ended with ${code}: ${said}`)),
    );
  });
  return { child, ended };
}

/** Starts a service again and again and kills it at a random moment, then lets it end in order. */
async function live(argument: object, until: number): Promise<Life> {
  const life: Life = { acknowledged: 0, kills: 0 };
  while (Date.now() < until) {
    const { child, ended } = start(argument, life);
    const timer = setTimeout(() => child.kill('SIGKILL'), 300 + Math.random() * 1_500);
    if ((await ended) === null) life.kills++;
    clearTimeout(timer);
  }
  for (;;) {
    const { child, ended } = start(argument, life);
    child.stdout!.once('data', () => child.kill('SIGTERM'));
    if ((await ended) === 0) return life;
  }
}

describe.each(await places())('on %s', (_, open) => {
  const here = opened(open, { workers: 1 });

  test.skipIf(!open)(
    'services that are killed and started again write every row once',
    { timeout: DURATION_MS + 60_000 },
    async () => {
      const { place, runtime } = here;
      const url = place.url('services');
      const table = await createTable(url, { schema: 'service int not null, n long not null', runtime });
      const until = Date.now() + DURATION_MS;
      const lives = await Promise.all([1, 2].map((service) => live({ url, s3: place.s3, service }, until)));
      const rows = await table.scan().toArray();
      for (const [i, { acknowledged, kills }] of lives.entries()) {
        const numbers = rows
          .flatMap(({ service, n }) => (service === i + 1 ? [Number(n)] : []))
          .sort((a, b) => a - b);
        expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, k) => k + 1));
        expect(numbers.length).toBeGreaterThanOrEqual(acknowledged);
        expect(acknowledged).toBeGreaterThan(0);
        expect(kills).toBeGreaterThan(0);
      }
    },
  );
});
