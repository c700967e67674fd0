// @ts-check
import { newOurs, newPeer } from './process.js';

/**
 * One line of the report. `better: 'less'` means that the ratio ours/peer should stay under the goals, `'more'` that it should be above them.
 * A goal of undefined is a figure without one. `unit`: 'ms', 'MB', '/s' or 'requests'.
 * @typedef {object} ResultRow
 * @property {string} name
 * @property {string} what
 * @property {string} unit
 * @property {number} ours
 * @property {number | undefined} peer
 * @property {number | undefined} ratio
 * @property {number | undefined} must
 * @property {number | undefined} aim
 * @property {'less' | 'more'} better
 * @property {{ ours: number[], peer: number[] }} [samples]
 */

/**
 * @typedef {object} Bench
 * @property {string} name
 * @property {string} data The folder of the made data.
 * @property {string} scratch An empty folder of this measurement's own.
 * @property {import('./process.js').Worker} ours
 * @property {import('./process.js').Worker} peer
 * @property {number} rounds
 * @typedef {(bench: Bench) => Promise<ResultRow[]>} Case
 */

/** @param {number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * Runs both sides in turn, `rounds` times after one round that does not count; who begins changes from round to round.
 * @template T, U
 * @param {{ rounds: number, warm?: number }} options
 * @param {() => Promise<T>} ours
 * @param {() => Promise<U>} peer
 * @returns {Promise<{ ours: T[], peer: U[] }>}
 */
export async function interleave({ rounds, warm = 1 }, ours, peer) {
  /** @type {{ ours: T[], peer: U[] }} */
  const samples = { ours: [], peer: [] };
  for (let round = -warm; round < rounds; round++) {
    let o;
    let p;
    if (round % 2 === 0) {
      o = await ours();
      p = await peer();
    } else {
      p = await peer();
      o = await ours();
    }
    if (round >= 0) {
      samples.ours.push(o);
      samples.peer.push(p);
    }
  }
  return samples;
}

/**
 * The same operation in a fresh process each time, after that process has loaded its modules.
 * @param {number} rounds @param {string} op @param {object} args
 */
export function interleaveCold(rounds, op, args) {
  const once = async (/** @type {import('./process.js').Worker} */ worker) => {
    try {
      await worker.ask('versions');
      return await worker.ask(op, args);
    } finally {
      await worker.stop();
    }
  };
  return interleave(
    { rounds, warm: 1 },
    () => once(newOurs()),
    () => once(newPeer()),
  );
}

/**
 * A row of the medians of one key of the answers.
 * @param {{ ours: any[], peer: any[] }} samples
 * @param {{ name: string, what: string, key?: string, unit?: string, scale?: number, must?: number, aim?: number, better?: 'less' | 'more' }} options
 * @returns {ResultRow}
 */
export function row(samples, { name, what, key = 'ms', unit = 'ms', scale = 1, must, aim, better = 'less' }) {
  const pick = (/** @type {any[]} */ answers) => answers.map((answer) => answer[key] * scale);
  const [ours, peer] = [pick(samples.ours), pick(samples.peer)];
  const ratio = median(ours) / median(peer);
  return {
    name,
    what,
    unit,
    ours: median(ours),
    peer: median(peer),
    ratio,
    must,
    aim,
    better,
    samples: { ours, peer },
  };
}

/** @param {any[]} answers @param {string} key */
export function assertSame(answers, key) {
  const found = new Set(answers.map((answer) => answer[key]));
  if (found.size !== 1) throw new Error(`the engines do not agree on ${key}: ${[...found].join(', ')}`);
}
