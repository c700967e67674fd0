import { isTableError, TableError } from '../errors.js';
import type { Context } from '../runtime/context.js';
import { readVerdict, writeVerdict } from './probe-cache.js';
import type { PutIfAbsentResult, RequestOptions, Store } from './store.js';

/**
 * What a store does with `If-None-Match: *`. `trusted`: known to honour it, not asked. `honoured`: one put of each kind won.
 * `ignored`: a second put won. `unsupported`: it answers that it knows no such condition.
 */
export type ConditionalWrites = 'trusted' | 'honoured' | 'ignored' | 'unsupported';

/** What a probe needs of the store that it tries. */
export interface ProbeTarget {
  readonly ctx: Context;
  readonly endpoint: string;
  readonly bucket: string;
  /** The store's URL. */
  readonly store: string;
  /** True asks the server whatever is remembered. */
  readonly force: boolean;
  putIfAbsent(key: string, bytes: Uint8Array): Promise<PutIfAbsentResult>;
  delete(key: string): Promise<void>;
}

/** A store that can say what its server does with conditions. */
interface Probeable {
  conditionalWrites(options: RequestOptions & { readonly force?: boolean }): Promise<ConditionalWrites>;
  assertSafe(): Promise<void>;
}

const RACERS = 8;
const TRIALS = 3;

const running = new Map<string, Promise<ConditionalWrites>>();

/**
 * Tells whether two writers are safe on a store. Local, memory and foreign stores, and AWS itself, are `trusted` without a request; an S3
 * server elsewhere is probed unless it was within a day. `putIfAbsent` of an S3 store does the same before its first put.
 * Leaves nothing behind where deleting is allowed, else two small objects under `_intervale/`.
 */
export async function probeStore(
  store: Store,
  options: RequestOptions & { readonly force?: boolean } = {},
): Promise<ConditionalWrites> {
  return 'conditionalWrites' in store ? (store as Store & Probeable).conditionalWrites(options) : 'trusted';
}

/**
 * Throws `UNSAFE_STORE` or `STORE_UNSUPPORTED` where two writers would lose commits and `singleWriter` is not stated, and what keeps a probe
 * from an answer. Asks as `probeStore` does. `putIfAbsent` does the same; asked for early it saves staging rows that cannot be committed.
 */
export async function assertSafeStore(store: Store): Promise<void> {
  if ('assertSafe' in store) await (store as Store & Probeable).assertSafe();
}

/**
 * Answers from memory or the user's cache folder, else tries: two puts of one key after each other, and eight of another at once; exactly
 * one of each may create. Calls for one endpoint and bucket at the same time share one trial.
 * Throws `PERMISSION_DENIED` naming the permission, and `STORE_FAILED` where the server's answers prove nothing.
 */
export function probe(target: ProbeTarget): Promise<ConditionalWrites> {
  const identity = `${target.endpoint} ${target.bucket}`;
  const begun = running.get(identity);
  if (begun) return begun;
  const started = answer(target).finally(() => running.delete(identity));
  running.set(identity, started);
  return started;
}

async function answer(target: ProbeTarget): Promise<ConditionalWrites> {
  const { ctx, endpoint, bucket, force } = target;
  const known = force ? undefined : await readVerdict(endpoint, bucket, ctx.clock.now());
  if (known) return known;
  for (let trial = 0; trial < TRIALS; trial++) {
    const verdict = await tryOnce(target);
    if (verdict === undefined) continue;
    await writeVerdict(endpoint, bucket, verdict, ctx.clock.now());
    return verdict;
  }
  throw new TableError(
    'STORE_FAILED',
    `It could not be learned whether ${endpoint} honours If-None-Match: its answers were ambiguous ${TRIALS} times.`,
    { store: target.store, endpoint, bucket },
  );
}

/** Undefined where an ambiguous answer, or a retry that met its own first try, leaves the matter open. */
async function tryOnce(target: ProbeTarget): Promise<ConditionalWrites | undefined> {
  const pair = `_intervale/probe-${target.ctx.ids.uuid()}`;
  const race = `_intervale/probe-${target.ctx.ids.uuid()}`;
  const used = [pair];
  try {
    const first = await target.putIfAbsent(pair, content('first'));
    const second = await target.putIfAbsent(pair, content('second'));
    if (first.outcome === 'created' && second.outcome === 'created') return 'ignored';
    if (first.outcome !== 'created' || second.outcome !== 'exists') return undefined;
    used.push(race);
    const racers = Array.from({ length: RACERS }, (_, i) => target.putIfAbsent(race, content(`racer ${i}`)));
    const results = await settled(racers);
    const created = results.filter(({ outcome }) => outcome === 'created').length;
    if (created > 1) return 'ignored';
    return created === 1 && results.every(({ outcome }) => outcome !== 'ambiguous') ? 'honoured' : undefined;
  } catch (error) {
    if (isTableError(error, 'STORE_UNSUPPORTED')) return 'unsupported';
    if (isTableError(error, 'PERMISSION_DENIED')) throw mayNotProbe(target, error);
    throw error;
  } finally {
    await Promise.allSettled(used.map((key) => target.delete(key)));
  }
}

/** Waits for all, so that the deletion comes after the last put, and then throws the first failure. */
async function settled<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

function content(who: string): Uint8Array {
  return new TextEncoder().encode(
    `Written to learn whether this store honours If-None-Match; may be deleted. (${who})\n`,
  );
}

function mayNotProbe(target: ProbeTarget, cause: TableError): TableError {
  const { endpoint, store, bucket } = target;
  return new TableError(
    'PERMISSION_DENIED',
    `Before the first commit through ${endpoint} it must be tried whether the server honours If-None-Match, and the credentials may not: they need s3:PutObject (and, to clean up, s3:DeleteObject) on ${store}/_intervale/*.`,
    { store, endpoint, bucket, permission: 's3:PutObject' },
    cause,
  );
}
