// @ts-check
import { cpSync } from 'node:fs';
import { median } from '../measure.js';
import { newOurs, newPeer } from '../process.js';
import { BUCKET, settingsOf, startCounter, startServer } from '../s3.js';

const PARTS = 10;
const WRITERS = 8;
const COMMITS = 25;

/**
 * What is counted on S3: an operation, its arguments, and the goals in requests.
 * @param {string} side
 * @returns {{ what: string, op: string, args: object, must: number, aim: number, before?: [string, object] }[]}
 */
function requestCases(side) {
  const url = `s3://${BUCKET}/${side}/table`;
  const logs = `s3://${BUCKET}/${side}`;
  return [
    { what: 'create with one file', op: 'create', args: { url }, must: 3, aim: 2 },
    { what: 'open at version 0', op: 'open', args: { url }, must: 3, aim: 3 },
    { what: 'append, cold at version 0', op: 'writePart', args: { url, part: 1 }, must: 5, aim: 5 },
    {
      what: 'append, table kept',
      op: 'writePart',
      args: { url, part: 2 },
      must: 2,
      aim: 2,
      before: ['keep', { url }],
    },
    {
      what: 'overwrite one partition, table kept',
      op: 'writePart',
      args: { url, part: 2, verb: 'overwrite' },
      must: 2,
      aim: 2,
    },
    // The other partitions; one of these commits writes the checkpoint that its version is due.
    ...Array.from({ length: PARTS - 3 }, (_, i) => ({
      what: '',
      op: 'writePart',
      args: { url, part: i + 3 },
      must: 0,
      aim: 0,
    })),
    { what: 'refresh, nothing new', op: 'refresh', args: { url }, must: 1, aim: 1 },
    {
      what: 'read one file of a partition',
      op: 'readPart',
      args: { url, predicate: 'part = 5' },
      must: 2,
      aim: 1,
    },
    { what: 'point lookup in 10 files', op: 'readPart', args: { url, predicate: 'id = 5' }, must: 3, aim: 1 },
    { what: 'full scan of 10 files', op: 'readPart', args: { url }, must: 20, aim: 10 },
    { what: 'open at a checkpoint', op: 'open', args: { url: `${logs}/checkpoint` }, must: 4, aim: 3 },
    {
      what: 'open v1000, checkpoint at 990',
      op: 'open',
      args: { url: `${logs}/commits-1000` },
      must: 14,
      aim: 13,
    },
  ];
}

/** @type {Record<string, import('../measure.js').Case>} */
export const s3Cases = {
  requests: async ({ name, data, scratch, ours, peer }) => {
    const server = await startServer(`${scratch}/s3`);
    const counter = await startCounter(server.endpoint);
    const settings = settingsOf(counter.endpoint);
    const counts = [];
    try {
      for (const [side, worker] of /** @type {const} */ ([
        ['ours', ours],
        ['peer', peer],
      ])) {
        const shared = side === 'ours' ? { s3: settings.s3 } : { storage: settings.storage };
        cpSync(`${data}/commits-1000`, `${scratch}/s3/${BUCKET}/${side}/commits-1000`, { recursive: true });
        cpSync(`${data}/large-checkpoint`, `${scratch}/s3/${BUCKET}/${side}/checkpoint`, { recursive: true });
        // The probe of a custom endpoint comes once for each server; it is not part of what an operation needs.
        await worker.ask('create', { url: `s3://${BUCKET}/${side}/first`, ...shared });
        const found = [];
        for (const { what, op, args, must, aim, before } of requestCases(side)) {
          if (before) await worker.ask(before[0], { ...before[1], ...shared });
          counter.take();
          const takesStore = op !== 'refresh' && op !== 'readPart';
          const answer = await worker.ask(op, { ...args, ...(takesStore ? shared : {}) });
          const counted = counter.take();
          if (answer.requests && answer.requests.length !== counted.requests) {
            throw new Error(
              `${what}: ${answer.requests.length} request events, but ${counted.requests} on the wire`,
            );
          }
          found.push({ what, must, aim, ...counted });
        }
        counts.push(found);
      }
    } finally {
      counter.stop();
      await server.stop();
    }
    const [mine, theirs] = counts;
    return mine.flatMap(({ what, must, aim, requests, depth }, i) =>
      what === ''
        ? []
        : [
            {
              name,
              what: `${what} (depth ${depth}; peer ${theirs[i].depth})`,
              unit: 'requests',
              ours: requests,
              peer: theirs[i].requests,
              ratio: undefined,
              must,
              aim,
              better: /** @type {const} */ ('less'),
            },
          ],
    );
  },

  'contention-s3': async ({ name, scratch, rounds }) => {
    const server = await startServer(`${scratch}/s3`);
    /** @type {{ ours: Contention[], peer: Contention[] }} */
    const samples = { ours: [], peer: [] };
    let peerRequests;
    try {
      const direct = settingsOf(server.endpoint);
      for (let round = 0; round < Math.min(rounds, 3); round++) {
        samples.ours.push(await contend(newOurs, `s3://${BUCKET}/ours-${round}`, { s3: direct.s3 }));
        samples.peer.push(
          await contend(newPeer, `s3://${BUCKET}/peer-${round}`, { storage: direct.storage }),
        );
      }
      const counter = await startCounter(server.endpoint);
      const { storage } = settingsOf(counter.endpoint);
      const { committed } = await contend(newPeer, `s3://${BUCKET}/peer-counted`, { storage }, () =>
        counter.take(),
      );
      peerRequests = counter.take().requests / committed;
      counter.stop();
    } finally {
      await server.stop();
    }
    const of = (/** @type {Contention[]} */ runs, /** @type {keyof Contention} */ key) =>
      median(runs.map((run) => run[key]));
    const most = (/** @type {Contention[]} */ runs, /** @type {keyof Contention} */ key) =>
      Math.max(...runs.map((run) => run[key]));
    const rate = { ours: of(samples.ours, 'rate'), peer: of(samples.peer, 'rate') };
    const what = `${WRITERS} processes x ${COMMITS} commits on S3, own partitions`;
    const base = { name, ratio: undefined };
    const [less, more] = /** @type {const} */ (['less', 'more']);
    return [
      { ...base, what, unit: '/s', ...rate, ratio: rate.ours / rate.peer, must: 1.5, aim: 3, better: more },
      {
        ...base,
        what: 'requests a commit',
        unit: '',
        ours: of(samples.ours, 'requestsACommit'),
        peer: peerRequests,
        must: 15,
        aim: 10,
        better: less,
      },
      {
        ...base,
        what: 'processor time of the writers a commit',
        unit: 'ms',
        ours: of(samples.ours, 'cpuACommit'),
        peer: of(samples.peer, 'cpuACommit'),
        must: undefined,
        aim: undefined,
        better: less,
      },
      {
        ...base,
        what: 'commits given up, the most of any round',
        unit: '',
        ours: most(samples.ours, 'failed'),
        peer: most(samples.peer, 'failed'),
        must: 0,
        aim: 0,
        better: less,
      },
      {
        ...base,
        what: 'longest wait for one commit',
        unit: 'ms',
        ours: most(samples.ours, 'longest'),
        peer: most(samples.peer, 'longest'),
        must: undefined,
        aim: 2000,
        better: less,
      },
    ];
  },
};

/** @typedef {{ rate: number, committed: number, failed: number, longest: number, cpuACommit: number, requestsACommit: number }} Contention */

/**
 * Eight processes at once, each overwriting its own partition. Throws where a commit that was reported is lost.
 * @param {() => import('../process.js').Worker} newWorker @param {string} url @param {object} settings @param {() => void} [onStart]
 * @returns {Promise<Contention>}
 */
async function contend(newWorker, url, settings, onStart = () => {}) {
  const workers = Array.from({ length: WRITERS }, newWorker);
  try {
    await workers[0].ask('create', { url, ...settings });
    await Promise.all(workers.map((worker) => worker.ask('keep', { url, ...settings })));
    await Promise.all(workers.map((worker, part) => worker.ask('warm', { url, part })));
    onStart();
    const start = performance.now();
    const answers = await Promise.all(
      workers.map((worker, part) => worker.ask('contend', { url, part, commits: COMMITS })),
    );
    const seconds = (performance.now() - start) / 1000;
    const failed = answers.reduce((sum, answer) => sum + answer.failed, 0);
    const committed = WRITERS * COMMITS - failed;
    const { version } = await workers[0].ask('open', { url, ...settings });
    if (version < committed)
      throw new Error(`${committed} commits were reported, but the table is at version ${version}`);
    return {
      rate: committed / seconds,
      committed,
      failed,
      longest: Math.max(...answers.map((answer) => answer.longest)),
      cpuACommit: answers.reduce((sum, answer) => sum + answer.cpu, 0) / committed,
      requestsACommit: answers.reduce((sum, answer) => sum + (answer.requestCount ?? 0), 0) / committed,
    };
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()));
  }
}
