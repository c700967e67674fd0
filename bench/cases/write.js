// @ts-check
import { cpSync } from 'node:fs';
import { interleave, row } from '../measure.js';

const MB = 1 / 1e6;
const DAY = '2024-01-15';

/** @param {import('../measure.js').Bench} bench */
async function write({ data, scratch, ours, peer, rounds }) {
  const path = `${data}/rows/rows.arrow`;
  await Promise.all([ours.ask('load', { path }), peer.ask('load', { path })]);
  return interleave(
    { rounds },
    () => ours.ask('write', { url: `${scratch}/ours`, path }),
    () => peer.ask('write', { url: `${scratch}/peer`, path }),
  );
}

/** @param {{ ours: any[], peer: any[] }} samples */
const bytes = (samples) =>
  row(samples, {
    name: 'write-bytes',
    what: 'bytes of that',
    key: 'bytes',
    unit: 'MB',
    scale: MB,
    must: 0.9,
    aim: 0.8,
  });

/** @type {Record<string, import('../measure.js').Case>} */
export const writeCases = {
  write: async (bench) => {
    const samples = await write(bench);
    const what = 'write 5M rows into 30 partitions';
    return [
      row(samples, { name: bench.name, what, must: 1.3, aim: 0.9 }),
      bytes(samples),
      row(samples, {
        name: 'write-memory',
        what: 'peak RSS, input included',
        key: 'peak',
        unit: 'MB',
        scale: MB,
      }),
    ];
  },

  'write-bytes': async (bench) => [bytes(await write({ ...bench, rounds: 1 }))],

  'overwrite-day': async ({ name, data, scratch, ours, peer, rounds }) => {
    const [all, path] = [`${data}/rows/rows.arrow`, `${data}/rows/day.arrow`];
    await peer.ask('write', { url: `${scratch}/peer`, path: all });
    cpSync(`${scratch}/peer`, `${scratch}/ours`, { recursive: true });
    await Promise.all([ours.ask('load', { path }), peer.ask('load', { path })]);
    const samples = await interleave(
      { rounds: rounds * 2, warm: 2 },
      () => ours.ask('overwriteDay', { url: `${scratch}/ours`, path }),
      () => peer.ask('overwriteDay', { url: `${scratch}/peer`, path, day: DAY }),
    );
    return [row(samples, { name, what: 'overwrite one day of 30, 167,000 rows', must: 2.5, aim: 1.25 })];
  },

  'append-rows': async ({ name, scratch, ours, peer, rounds }) => {
    const rows = [];
    const rate = (/** @type {any} */ answer) => ({ rate: 200_000 / answer.ms });
    for (const [fsync, what] of [
      [false, 'commits of one row, without fsync'],
      [true, 'commits of one row, with fsync; the peer has none'],
    ]) {
      const samples = await interleave(
        { rounds },
        async () => rate(await ours.ask('appendRows', { url: `${scratch}/ours`, count: 200, fsync })),
        async () => rate(await peer.ask('appendRows', { url: `${scratch}/peer`, count: 200 })),
      );
      const options = /** @type {const} */ ({ key: 'rate', unit: '/s', must: 4, aim: 10, better: 'more' });
      rows.push(row(samples, { name, what: String(what), ...options }));
    }
    return rows;
  },

  checkpoint: async ({ name, data, scratch, ours, peer, rounds }) => {
    for (const side of ['ours', 'peer'])
      cpSync(`${data}/large-json`, `${scratch}/${side}`, { recursive: true });
    const samples = await interleave(
      { rounds },
      () => ours.ask('checkpoint', { url: `${scratch}/ours` }),
      () => peer.ask('checkpoint', { url: `${scratch}/peer` }),
    );
    return [
      row(samples, { name, what: 'checkpoint of 300,000 adds, time', must: 1.5, aim: 0.8 }),
      row(samples, { name, what: 'and its size', key: 'bytes', unit: 'MB', scale: MB, must: 0.4, aim: 0.2 }),
    ];
  },
};
