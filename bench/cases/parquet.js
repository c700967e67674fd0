// @ts-check
import { fileURLToPath } from 'node:url';
import { interleave, row } from '../measure.js';
import { Worker } from '../process.js';

const PEERS = fileURLToPath(new URL('../parquet-peers.js', import.meta.url));
const COUNT = 300_000;

/** @type {Record<string, import('../measure.js').Case>} */
export const parquetCases = {
  parquet: async ({ name, data, scratch, ours, rounds }) => {
    const peers = new Worker(process.execPath, [PEERS]);
    const path = `${data}/rows/rows.arrow`;
    const file = `${scratch}/peer.parquet`;
    const url = `${scratch}/ours`;
    try {
      await Promise.all([
        ours.ask('loadObjects', { path, count: COUNT }),
        peers.ask('load', { path, count: COUNT }),
      ]);
      const few = { rounds: Math.min(rounds, 3) };
      const rows = [];
      const written = await interleave(
        few,
        () => ours.ask('writeObjects', { url }),
        () => peers.ask('writeParquetjs', { file }),
      );
      rows.push(row(written, { name, what: 'write 300,000 row objects, against parquetjs-lite' }));
      rows.push(row(written, { name, what: 'bytes of that', key: 'bytes', unit: 'MB', scale: 1e-6 }));
      for (const [op, peer] of [
        ['readParquetjs', 'parquetjs-lite'],
        ['readHyparquet', 'hyparquet'],
      ]) {
        const read = await interleave(
          few,
          () => ours.ask('readObjects', { url }),
          () => peers.ask(op, { file }),
        );
        rows.push(row(read, { name, what: `read them as row objects, against ${peer}` }));
      }
      return rows;
    } finally {
      await peers.stop();
    }
  },
};
