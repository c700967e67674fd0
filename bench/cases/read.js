// @ts-check
import { assertSame, interleave, row } from '../measure.js';

const DAY = "day = '2024-01-15'";

/**
 * One table of each writer; both read both.
 * @param {import('../measure.js').Bench} bench
 */
async function makeTables({ data, scratch, ours, peer }) {
  const path = `${data}/rows/rows.arrow`;
  await ours.ask('write', { url: `${scratch}/ours`, path });
  await peer.ask('write', { url: `${scratch}/peer`, path });
  return [
    { url: `${scratch}/peer`, of: "the peer's table", goals: true },
    { url: `${scratch}/ours`, of: 'our table', goals: false },
  ];
}

/** @type {Record<string, import('../measure.js').Case>} */
export const readCases = {
  'scan-all': async (bench) => {
    const { name, ours, peer, rounds } = bench;
    const rows = [];
    for (const { url, of, goals } of await makeTables(bench)) {
      for (const { how, reuseMemory, against, must, aim } of [
        { how: 'scan', reuseMemory: false, against: 'scan()', must: 3, aim: 1.7 },
        { how: 'pyarrow', reuseMemory: false, against: 'to_pyarrow_table()', must: 1, aim: 0.5 },
        { how: 'pyarrow', reuseMemory: true, against: 'to_pyarrow_table(), batches lent', must: 1, aim: 0.5 },
      ]) {
        const samples = await interleave(
          { rounds },
          () => ours.ask('scan', { url, reuseMemory }),
          () => peer.ask('scan', { url, how }),
        );
        assertSame([...samples.ours, ...samples.peer], 'rows');
        const what = `scan 5M rows of ${of}, against ${against}`;
        rows.push(row(samples, { name, what, ...(goals ? { must, aim } : {}) }));
      }
    }
    return rows;
  },

  'scan-partition': async (bench) => {
    const { name, ours, peer, rounds } = bench;
    const rows = [];
    for (const { url, of, goals } of await makeTables(bench)) {
      const samples = await interleave(
        { rounds: rounds * 2, warm: 2 },
        () => ours.ask('scan', { url, predicate: DAY }),
        () => peer.ask('scan', { url, predicate: DAY }),
      );
      assertSame([...samples.ours, ...samples.peer], 'rows');
      const what = `scan one partition of 30 of ${of}`;
      rows.push(row(samples, { name, what, ...(goals ? { must: 1.5, aim: 0.8 } : {}) }));
    }
    return rows;
  },
};
