// @ts-check
import { interleave, median, row } from '../measure.js';
import { BUCKET, settingsOf, startCounter, startServer } from '../s3.js';

const DAYS = 365;
const ROWS = 10_000;
const RUNS = 8760;
const ACTIVE = [1, 4, 16];
/** Days of the backfill whose requests are counted on the wire. */
const COUNTED = 50;

/** @type {Record<string, import('../measure.js').Case>} */
export const pipelineCases = {
  backfill: async ({ name, data, scratch, ours, peer, rounds }) => {
    const path = `${data}/rows/day.arrow`;
    await Promise.all([ours.ask('loadDay', { path }), peer.ask('loadDay', { path })]);
    const task = { days: DAYS, rows: ROWS };
    const rows = [];
    for (const [maxActive, fsync] of /** @type {const} */ ([
      [1, false],
      [4, false],
      [16, false],
      [1, true],
    ])) {
      const samples = await interleave(
        { rounds: Math.min(rounds, 3) },
        () => ours.ask('backfill', { url: `${scratch}/ours`, ...task, maxActive, fsync }),
        () => peer.ask('backfill', { url: `${scratch}/peer`, ...task }),
      );
      const what = `${DAYS} days of ${ROWS} rows, ${maxActive} at once${fsync ? ', with fsync; the peer has none' : ''}`;
      rows.push(row(samples, { name, what }), row(samples, { name, what: 'and its CPU time', key: 'cpu' }));
    }
    return rows;
  },

  'backfill-s3': async ({ name, data, scratch, ours, peer, rounds }) => {
    const path = `${data}/rows/day.arrow`;
    await Promise.all([ours.ask('loadDay', { path }), peer.ask('loadDay', { path })]);
    const server = await startServer(`${scratch}/s3`);
    const rows = [];
    let tables = 0;
    const fresh = () => `s3://${BUCKET}/backfill-${tables++}`;
    try {
      const { s3, storage } = settingsOf(server.endpoint);
      for (const maxActive of ACTIVE) {
        const samples = await interleave(
          { rounds: Math.min(rounds, 2), warm: 0 },
          () => ours.ask('backfill', { url: fresh(), days: DAYS, rows: ROWS, maxActive, s3 }),
          () => peer.ask('backfill', { url: fresh(), days: DAYS, rows: ROWS, storage }),
        );
        const retries = median(samples.ours.map((answer) => answer.retries));
        const what = `${DAYS} days of ${ROWS} rows, ${maxActive} at once; ${retries} commits tried again`;
        rows.push(row(samples, { name, what }));
      }
      rows.push(...(await requestsOf(server.endpoint, fresh, ours, peer, name)));
    } finally {
      await server.stop();
    }
    return rows;
  },

  'ledger-open': async ({ name, scratch, ours, peer, rounds }) => {
    const [withLedger, without] = [`${scratch}/with`, `${scratch}/without`];
    await ours.ask('makeHourly', { url: withLedger, runs: RUNS, ledger: true });
    await ours.ask('makeHourly', { url: without, runs: RUNS, ledger: false });
    const open = (/** @type {string} */ op, /** @type {number} */ times) =>
      interleave(
        { rounds: times, warm: 2 },
        () => peer.ask(op, { url: withLedger }),
        () => peer.ask(op, { url: without }),
      );
    const rows = [
      row(await open('open', rounds * 4), {
        name,
        what: `delta-rs opens a table of ${RUNS} runs; the same without its ledger`,
        must: 1.2,
      }),
    ];
    if (process.env.BENCH_SPARK)
      rows.push(row(await open('sparkOpen', rounds), { name, what: 'Spark opens it', must: 1.2 }));
    // The first look gathers the notes, each read once.
    const answers = [];
    for (let round = -1; round < rounds; round++) {
      const answer = await ours.ask('coverage', { url: withLedger, runs: RUNS });
      if (round >= 0) answers.push(answer);
    }
    const base = { name, unit: 'ms', peer: undefined, ratio: undefined, aim: undefined };
    const less = /** @type {const} */ ('less');
    rows.push(
      {
        ...base,
        what: 'coverage of it',
        ours: median(answers.map(({ ms }) => ms)),
        must: 1000,
        better: less,
      },
      {
        ...base,
        what: 'and its CPU time',
        ours: median(answers.map(({ cpu }) => cpu)),
        must: undefined,
        better: less,
      },
    );
    return rows;
  },
};

/**
 * @param {string} endpoint @param {() => string} fresh @param {import('../process.js').Worker} ours @param {import('../process.js').Worker} peer
 * @param {string} name @returns {Promise<import('../measure.js').ResultRow[]>}
 */
async function requestsOf(endpoint, fresh, ours, peer, name) {
  const counter = await startCounter(endpoint);
  const { s3, storage } = settingsOf(counter.endpoint);
  const task = { days: COUNTED, rows: ROWS };
  const rows = [];
  try {
    await peer.ask('backfill', { url: fresh(), ...task, storage });
    const theirs = counter.take().requests / COUNTED;
    for (const maxActive of ACTIVE) {
      await ours.ask('backfill', { url: fresh(), ...task, maxActive, s3 });
      rows.push({
        name,
        what: `requests an interval, ${maxActive} at once`,
        unit: 'requests',
        ours: counter.take().requests / COUNTED,
        peer: theirs,
        ratio: undefined,
        must: undefined,
        aim: undefined,
        better: /** @type {const} */ ('less'),
      });
    }
  } finally {
    counter.stop();
  }
  return rows;
}
