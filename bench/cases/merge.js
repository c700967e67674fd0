// @ts-check
import { linkSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { assertSame, interleave, row } from '../measure.js';

const MB = 1 / 1e6;
const VECTORS = { 'delta.enableDeletionVectors': 'true' };

/** @type {readonly { what: string, keys: string, on: readonly string[], vectors: boolean, must: number, aim?: number }[]} */
const MERGES = [
  { what: 'by deletion vectors', keys: 'keys', on: ['id'], vectors: true, must: 0.4, aim: 0.2 },
  { what: 'by copies of files', keys: 'keys', on: ['id'], vectors: false, must: 1.5 },
  { what: 'within one partition, by copies', keys: 'day-keys', on: ['day', 'id'], vectors: false, must: 1.5 },
];

/** The same table again: files never change, so links will do. @param {string} from @param {string} to */
function linkTree(from, to) {
  rmSync(to, { recursive: true, force: true });
  for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const source = join(entry.parentPath, entry.name);
    const target = join(to, source.slice(from.length));
    mkdirSync(dirname(target), { recursive: true });
    linkSync(source, target);
  }
}

/** @type {Record<string, import('../measure.js').Case>} */
export const mergeCases = {
  merge: async ({ name, data, scratch, ours, peer, rounds }) => {
    await peer.ask('write', { url: `${scratch}/base`, path: `${data}/rows/rows.arrow` });
    linkTree(`${scratch}/base`, `${scratch}/vectors`);
    await ours.ask('alter', { url: `${scratch}/vectors`, properties: VECTORS });
    const rows = [];
    for (const { what, keys, on, vectors, must, aim } of MERGES) {
      const path = `${data}/keys/${keys}.arrow`;
      await Promise.all([ours.ask('load', { path }), peer.ask('load', { path })]);
      // A copy of the table for every round, whose name no state is kept of.
      let copies = 0;
      const once = async (/** @type {typeof ours} */ side, /** @type {string} */ base) => {
        const url = `${scratch}/copy-${copies++}`;
        linkTree(`${scratch}/${base}`, url);
        const answer = await side.ask('merge', { url, path, on });
        rmSync(url, { recursive: true, force: true });
        return answer;
      };
      // Where a merge takes a tenth of a second, more of them are to be had, and the first ones only show how code gets warm.
      const isShort = on.length > 1;
      const samples = await interleave(
        isShort ? { rounds: rounds * 2, warm: 4 } : { rounds },
        () => once(ours, vectors ? 'vectors' : 'base'),
        () => once(peer, 'base'),
      );
      assertSame([...samples.ours, ...samples.peer], 'rows');
      const figure = (/** @type {string} */ key, /** @type {string} */ told, /** @type {object} */ options) =>
        row(samples, { name: `${name}-${key}`, what: told, key, ...options });
      rows.push(
        row(samples, { name, what: `merge 10,000 keys into 5M rows, ${what}`, must, aim }),
        figure('filesRead', 'files read; the peer tells those written again', { unit: '' }),
        figure('written', 'bytes written', { unit: 'MB', scale: MB }),
        figure('peak', 'peak RSS so far', { unit: 'MB', scale: MB }),
      );
    }
    return rows;
  },
};
