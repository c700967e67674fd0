// @ts-check
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { interleave, row } from '../measure.js';

const run = promisify(execFile);
const COMMAND = fileURLToPath(new URL('../../bin/tablectl.js', import.meta.url));

/** The time of a whole process, from its start to its end. @param {string[]} args */
async function processTime(args) {
  const start = performance.now();
  await run(process.execPath, args);
  return { ms: performance.now() - start };
}

/** @type {Record<string, import('../measure.js').Case>} */
export const commandCases = {
  // The goals are of milliseconds, so they hold for a quiet machine; an empty program of Node stands beside as the measure.
  command: async ({ name, data, rounds }) => {
    const rows = [];
    for (const [what, args, goal] of /** @type {[string, string[], number][]} */ ([
      ['tablectl --version, against an empty program', ['--version'], 100],
      ['tablectl info of a local table, against an empty program', ['info', `${data}/commits-100`], 300],
    ])) {
      const samples = await interleave(
        { rounds },
        () => processTime([COMMAND, ...args]),
        () => processTime(['-e', '0']),
      );
      rows.push({ ...row(samples, { name, what }), must: goal, ratio: undefined });
    }
    return rows;
  },
};
