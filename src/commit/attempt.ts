import { isTableError, TableError } from '../errors.js';
import { commitTxnId } from '../log/commit-identity.js';
import { commitPath } from '../log/paths.js';
import type { Context } from '../runtime/context.js';
import type { PutIfAbsentResult, Store } from '../store/store.js';

/**
 * What became of one attempt to create a version, each proved by what the store holds:
 * `committed`: that version is ours. `conflict`: that version is another's, whose file is `winner`. `cleaned`: the store says that the version exists, yet it cannot be read,
 * so log cleanup removed it: the caller looks for its files in a newer snapshot. `unknown`: time ran out before the store told.
 */
export type AttemptResult =
  | { readonly outcome: 'committed' }
  | { readonly outcome: 'conflict'; readonly winner: Uint8Array }
  | { readonly outcome: 'cleaned' }
  | { readonly outcome: 'unknown'; readonly cause: unknown };

export interface AttemptInput {
  readonly version: number;
  /** The whole commit; its `commitInfo.txnId` is `txnId`. */
  readonly bytes: Uint8Array;
  readonly txnId: string;
  /** Monotonic milliseconds at which to give up. */
  readonly deadline: number;
  readonly signal?: AbortSignal;
}

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;

/**
 * Creates version `version` of the log by put-if-absent and finds out what became of it. After an answer that proves nothing, the version is read back;
 * while it is not there the put may still land, so the same bytes are sent to the same version until one of the two is read. An abort during the put
 * does not stop this: only the deadline does. A definite refusal that no ambiguous try preceded is thrown. Deletes nothing.
 */
export async function attemptCommit(store: Store, ctx: Context, input: AttemptInput): Promise<AttemptResult> {
  const key = commitPath(input.version);
  let ambiguous = false;
  let cause: unknown;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    const put = await putOnce(store, key, input, ambiguous);
    if (put.outcome === 'created') return { outcome: 'committed' };
    if (put.outcome === 'ambiguous') {
      ambiguous = true;
      cause = put.cause;
    }
    const found = await readBack(store, key, input.txnId);
    if (found.owner === 'ours') return { outcome: 'committed' };
    if (found.owner === 'another') return { outcome: 'conflict', winner: found.bytes };
    if (found.owner === 'missing' && put.outcome === 'exists') return { outcome: 'cleaned' };
    if (found.owner === 'unreadable') cause = found.cause;
    const left = input.deadline - ctx.clock.monotonic();
    if (left <= 0) return { outcome: 'unknown', cause };
    await ctx.clock.sleep(Math.min(left, pause * (0.5 + ctx.ids.random())));
  }
}

/** One put. The caller's signal counts for the first try alone: once a put may be on its way, what became of it must be learned. */
async function putOnce(
  store: Store,
  key: string,
  input: AttemptInput,
  ambiguous: boolean,
): Promise<PutIfAbsentResult> {
  try {
    return await store.putIfAbsent(key, input.bytes, ambiguous ? {} : { signal: input.signal });
  } catch (error) {
    // A refusal now says nothing of the tries before it, which may yet have landed.
    if (ambiguous) return { outcome: 'ambiguous', cause: error };
    throw error;
  }
}

type ReadBack =
  | { readonly owner: 'ours' | 'missing' }
  | { readonly owner: 'another'; readonly bytes: Uint8Array }
  | { readonly owner: 'unreadable'; readonly cause: unknown };

async function readBack(store: Store, key: string, txnId: string): Promise<ReadBack> {
  try {
    const bytes = await store.get(key);
    return commitTxnId(bytes) === txnId ? { owner: 'ours' } : { owner: 'another', bytes };
  } catch (cause) {
    return isTableError(cause, 'NOT_FOUND') ? { owner: 'missing' } : { owner: 'unreadable', cause };
  }
}

/** The error of a commit whose fate is not known; its context is what `table.resolve()` takes. */
export function unknownState(
  url: string,
  version: number,
  txnId: string,
  paths: readonly string[],
  cause: unknown,
): TableError {
  return new TableError(
    'COMMIT_STATE_UNKNOWN',
    `It could not be learned whether version ${version} of ${url} was committed. Nothing was deleted. Ask again with table.resolve(error.context), or run the job again with the same token.`,
    { url, version, txnId, paths },
    cause,
  );
}
