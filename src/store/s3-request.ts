import { setMaxListeners } from 'node:events';
import { isTableError, type TableError } from '../errors.js';
import type { Context } from '../runtime/context.js';
import type { RequestEvent, StoreOperation } from '../runtime/events.js';
import { classify, type Fault, isPassing, mayHaveLanded } from './classify.js';
import { assertNotAborted } from './keys.js';
import { observe, type Tally } from './observe.js';
import { retrying, type Verdict } from './retry.js';
import { connectS3, type S3Connection } from './s3-client.js';
import { faultError } from './s3-errors.js';
import type { S3Settings } from './s3-options.js';

/** One bucket as requests see it. */
export interface S3Wire {
  readonly ctx: Context;
  /** The store's URL, for events and errors. */
  readonly store: string;
  readonly bucket: string;
  readonly settings: S3Settings;
}

/** What a request's body is run with. */
export interface WireCall {
  readonly connection: S3Connection;
  /** The second argument of the client's `send`. */
  readonly http: { readonly abortSignal?: AbortSignal; readonly requestTimeout: number };
  /** `received` is counted by whoever reads the body. */
  readonly tally: Tally;
}

export interface WireRequest<T> {
  readonly operation: StoreOperation;
  /** Relative to the store's root. */
  readonly key: string;
  readonly signal?: AbortSignal;
  /** Bytes of the body that goes out. */
  readonly sent?: number;
  run(call: WireCall): Promise<T>;
}

/** The time allowed for sending is that of a slow line, so that the timeout is about the answer. */
const SLOWEST_BYTES_PER_MS = 100;
/** How long a server that never answered is tried: a mistyped address should not cost a minute. */
const FIRST_CONTACT_MS = 5_000;

/**
 * One request over the wire, with one event, and no second try. Throws what the SDK throws; `faultOf` reads it.
 * A request that fails for lack of credentials before anything is sent has no event.
 */
export async function sendOnce<T>(wire: S3Wire, request: WireRequest<T>): Promise<T> {
  const { operation, key, signal, sent = 0 } = request;
  assertNotAborted(signal);
  const connection = await connectS3(wire.settings);
  const requestTimeout = wire.settings.requestTimeoutMs + sent / SLOWEST_BYTES_PER_MS;
  return connection.slots.run(() => {
    assertNotAborted(signal);
    return observe(wire.ctx, wire.store, operation, key, async (tally) => {
      tally.sent = sent;
      // One signal stops many requests at once, which is no leak.
      if (signal) setMaxListeners(0, signal);
      try {
        const http = { requestTimeout, ...(signal && { abortSignal: signal }) };
        const answer = await request.run({ connection, tally, http });
        connection.reached = true;
        return answer;
      } catch (error) {
        const fault = classify(error);
        if (fault.status !== undefined) connection.reached = true;
        else if (fault.kind === 'credentials') tally.unsent = true;
        tally.outcome ??= outcomeOf(fault, operation);
        throw error;
      }
    });
  });
}

/** A request that may be sent again: retries passing faults within the settings' time, refreshes credentials once, throws a `TableError`. */
export async function send<T>(wire: S3Wire, request: WireRequest<T>): Promise<T> {
  return sendUntil(
    wire,
    request,
    () => sendOnce(wire, request),
    () => undefined,
  );
}

/**
 * The retry loop with the attempt left to the caller. `onFault` is told of each fault before it is judged; what it returns, if anything,
 * replaces the verdict.
 */
export async function sendUntil<T>(
  wire: S3Wire,
  request: Pick<WireRequest<unknown>, 'operation' | 'key' | 'signal'>,
  attempt: () => Promise<T>,
  onFault: (fault: Fault, explained: TableError) => Verdict | undefined,
): Promise<T> {
  const { ctx, settings } = wire;
  const { operation, key, signal } = request;
  const refreshed = { credentials: false, clock: false };
  return retrying(
    { ctx, operation, key, retryForMs: settings.retryForMs, ...(signal && { signal }) },
    attempt,
    async (error) => {
      if (isTableError(error)) return { again: false, error };
      const connection = await connectS3(settings);
      const fault = classify(error);
      const place = {
        operation,
        key,
        store: wire.store,
        bucket: wire.bucket,
        endpoint: connection.endpoint,
        region: connection.region,
      };
      const explained = faultError(fault, place, error);
      const decided = onFault(fault, explained);
      if (decided) return decided;
      const once: Verdict = { again: true, reason: fault.code, error: explained, pause: 'none' };
      if (fault.kind === 'clock' && !refreshed.clock) {
        // The SDK has taken the server's time from the answer and signs with it from now on.
        refreshed.clock = true;
        return once;
      }
      if (!refreshed.credentials && (await mayBeStale(fault, connection))) {
        refreshed.credentials = true;
        if (
          await connection.refreshCredentials().then(
            () => true,
            () => false,
          )
        )
          return once;
      }
      if (!isPassing(fault.kind)) return { again: false, error: explained };
      return {
        again: true,
        reason: fault.code,
        error: explained,
        ...(fault.kind === 'throttled' && { pause: 'slow' }),
        ...(fault.kind === 'unreachable' && !connection.reached && { withinMs: FIRST_CONTACT_MS }),
      };
    },
  );
}

/** Whether fresh credentials may help: some servers answer a plain 403 to an expired session. */
async function mayBeStale(fault: Fault, connection: S3Connection): Promise<boolean> {
  if (fault.kind === 'credentials') return fault.status !== undefined;
  if (fault.kind !== 'denied') return false;
  const identity = await connection.client.config.credentials().catch(() => undefined);
  return identity?.sessionToken !== undefined;
}

function outcomeOf(fault: Fault, operation: StoreOperation): RequestEvent['outcome'] {
  if (fault.kind === 'missing') return 'missing';
  if (fault.kind === 'exists') return 'exists';
  return operation === 'putIfAbsent' && mayHaveLanded(fault.kind) ? 'ambiguous' : 'failed';
}
