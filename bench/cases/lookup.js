// @ts-check
import { cpSync } from 'node:fs';
import { assertSame, interleave, row } from '../measure.js';
import { newOurs, newPeer } from '../process.js';
import { BUCKET, settingsOf, startCounter, startServer } from '../s3.js';

const ROWS = 5_000_000;

/** What is looked up in a table whose ids are in order. @param {number} round */
const LOOKUPS = {
  'one row by its id': (/** @type {number} */ round) => `id = ${idOf(round)}`,
  'a thousand rows by a range of ids': (/** @type {number} */ round) =>
    `id >= ${idOf(round)} AND id < ${idOf(round) + 1000}`,
  'the row of one name; names are in no order': () => "name = 'customer-5000001'",
};

/** Another place of the table each time. @param {number} round */
function idOf(round) {
  return (1_234_567 + round * 777_777) % (ROWS - 1000);
}

/** @type {Record<string, import('../measure.js').Case>} */
export const lookupCases = {
  lookup: async ({ name, data, scratch, ours, peer, rounds }) => {
    const path = `${data}/rows/rows.arrow`;
    const tables = [
      { url: `${scratch}/peer`, of: "the peer's table", writer: peer },
      { url: `${scratch}/ours`, of: 'our table', writer: ours },
    ];
    const rows = [];
    for (const { url, of, writer } of tables) {
      await writer.ask('write', { url, path, partitionBy: [] });
      await Promise.all([ours.ask('keep', { url }), peer.ask('keep', { url })]);
      for (const [what, predicate] of Object.entries(LOOKUPS)) {
        const round = { ours: 0, peer: 0 };
        const samples = await interleave(
          { rounds: rounds * 2, warm: 2 },
          () => ours.ask('readPart', { url, predicate: predicate(round.ours++) }),
          () => peer.ask('readPart', { url, predicate: predicate(round.peer++) }),
        );
        assertSame([...samples.ours, ...samples.peer], 'rows');
        rows.push(row(samples, { name, what: `${what}, of ${of}` }));
      }
    }
    return [...rows, ...(await counted(name, scratch))];
  },
};

/** Requests and bytes of the same on S3: the first lookup of a process, and one more. @param {string} name @param {string} scratch */
async function counted(name, scratch) {
  const server = await startServer(`${scratch}/s3`);
  const counter = await startCounter(server.endpoint);
  const settings = settingsOf(counter.endpoint);
  const [ours, peer] = [newOurs(), newPeer()];
  try {
    cpSync(`${scratch}/peer`, `${scratch}/s3/${BUCKET}/table`, { recursive: true });
    const url = `s3://${BUCKET}/table`;
    const figures = [];
    for (const [side, shared] of /** @type {const} */ ([
      [ours, { s3: settings.s3 }],
      [peer, { storage: settings.storage }],
    ])) {
      await side.ask('keep', { url, ...shared });
      const found = [];
      for (const round of [0, 1]) {
        counter.take();
        const { rows } = await side.ask('readPart', { url, predicate: LOOKUPS['one row by its id'](round) });
        if (rows !== 1) throw new Error(`one row was looked up, and ${rows} found`);
        found.push(counter.take());
      }
      figures.push(found);
    }
    const [mine, theirs] = figures;
    return ['the first lookup on S3', 'one more'].flatMap((when, i) => {
      const base = {
        name,
        ratio: undefined,
        must: undefined,
        aim: undefined,
        better: /** @type {const} */ ('less'),
      };
      const depth = `(depth ${mine[i].depth}; peer ${theirs[i].depth})`;
      return [
        {
          ...base,
          what: `${when} ${depth}`,
          unit: 'requests',
          ours: mine[i].requests,
          peer: theirs[i].requests,
        },
        {
          ...base,
          what: `bytes of ${when}`,
          unit: 'MB',
          ours: mine[i].bytes / 1e6,
          peer: theirs[i].bytes / 1e6,
          ratio: mine[i].bytes / theirs[i].bytes,
          must: 1,
        },
      ];
    });
  } finally {
    await Promise.all([ours.stop(), peer.stop()]);
    counter.stop();
    await server.stop();
  }
}
