// @ts-check
import { existsSync } from 'node:fs';
import { assertSame, interleave, interleaveCold, row } from '../measure.js';

const MB = 1 / 1e6;

/** @type {Record<string, import('../measure.js').Case>} */
export const openCases = {
  'open-large': async ({ name, data, rounds }) => {
    const url = `${data}/large-checkpoint`;
    const samples = await interleaveCold(rounds, 'open', { url });
    assertSame([...samples.ours, ...samples.peer], 'version');
    return [row(samples, { name, what: 'open 300,000 files from a checkpoint, cold', must: 0.5, aim: 0.25 })];
  },

  'open-memory': async ({ name, data, rounds }) => {
    const samples = await interleaveCold(rounds, 'open', { url: `${data}/large-checkpoint` });
    const what = 'peak RSS of that open';
    return [row(samples, { name, what, key: 'peak', unit: 'MB', scale: MB, must: 0.5, aim: 0.3 })];
  },

  'open-json': async ({ name, data, ours, peer, rounds }) => {
    const rows = [];
    for (const [folder, what] of [
      ['reference-large', 'open 300,000 files from JSON commits'],
      ['large-json', 'the same with statistics'],
    ]) {
      const url = `${data}/${folder}`;
      if (!existsSync(url)) continue;
      const samples = await interleave(
        { rounds },
        () => ours.ask('open', { url }),
        () => peer.ask('open', { url }),
      );
      assertSame([...samples.ours, ...samples.peer], 'version');
      rows.push(row(samples, { name, what, must: 0.5, aim: 0.25 }));
    }
    return rows;
  },

  'open-commits': async ({ name, data, ours, peer, rounds }) => {
    const rows = [];
    for (const count of [100, 1_000, 10_000]) {
      const url = `${data}/commits-${count}`;
      const samples = await interleave(
        { rounds: rounds * 3, warm: 3 },
        () => ours.ask('open', { url }),
        () => peer.ask('open', { url }),
      );
      assertSame([...samples.ours, ...samples.peer], 'version');
      rows.push(row(samples, { name, what: `open after ${count} commits`, must: 0.8, aim: 0.5 }));
    }
    return rows;
  },

  plan: async ({ name, data, ours, peer, rounds }) => {
    const url = `${data}/large-checkpoint`;
    await Promise.all([ours.ask('keep', { url }), peer.ask('keep', { url })]);
    const rows = [];
    for (const [what, question] of [
      ['files of 300,000 by partition', { column: 'day', value: '2024-03-05' }],
      ['files of 300,000 by statistics', { column: 'id', value: 150_000_500, statistics: true }],
    ]) {
      const args = { url, .../** @type {object} */ (question) };
      const samples = await interleave(
        { rounds: rounds * 2 },
        () => ours.ask('plan', args),
        () => peer.ask('plan', args),
      );
      assertSame([...samples.ours, ...samples.peer], 'files');
      rows.push(row(samples, { name, what: String(what), must: 0.5, aim: 0.3 }));
    }
    return rows;
  },
};
