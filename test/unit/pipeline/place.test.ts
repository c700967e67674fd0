import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { thrownAt } from '../../../src/pipeline/place.js';

const LIBRARY = fileURLToPath(new URL('../../../src/pipeline/run.ts', import.meta.url));

function errorWith(...frames: string[]): Error {
  const error = new Error('x');
  error.stack = ['Error: x', ...frames.map((frame) => `    at ${frame}`)].join('\n');
  return error;
}

test.each([
  [['Object.produce (/home/me/p.ts:6:21)', `runOnce (${LIBRARY}:120:3)`], '/home/me/p.ts:6:21'],
  [['node:internal/deps/undici:1:2', 'async Object.produce (/home/me/p.ts:6:21)'], '/home/me/p.ts:6:21'],
  [['async /home/me/p.ts:6:21'], '/home/me/p.ts:6:21'],
  [
    ['send (/home/me/node_modules/pg/a.js:1:1)', '/home/me/my pipes/p.ts:6:21'],
    '/home/me/my pipes/p.ts:6:21',
  ],
  [['fn (file:///home/me/a%20b.mjs:6:21)'], '/home/me/a b.mjs:6:21'],
  [[`stage (${LIBRARY}:1:1)`, 'produce (/home/me/p.ts:6:21)'], undefined],
  [[`stage (${pathToFileURL(LIBRARY).href}:1:1)`, 'produce (/home/me/p.ts:6:21)'], undefined],
  [['Array.map (<anonymous>)'], undefined],
])('the place of an error thrown at %j', (frames, place) => {
  expect(thrownAt(errorWith(...frames))).toBe(place);
});

test('what is no error has no place', () => {
  expect(thrownAt('x')).toBeUndefined();
});
