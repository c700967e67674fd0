import { stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { isTableError, TableError } from '../errors.js';
import type { Context } from '../runtime/context.js';
import { TEMPORARY_PREFIX } from './local-write.js';
import { type ConditionalWrites, probeStore } from './probe.js';
import { type S3Description, S3Store } from './s3.js';
import type { Store } from './store.js';

export type DoctorCheckName = 'credentials' | 'list' | 'write' | 'read' | 'conditionalWrites' | 'delete';

export interface DoctorCheck {
  readonly name: DoctorCheckName;
  /** `skipped`: an earlier check failed, or there is nothing to check. */
  readonly status: 'ok' | 'failed' | 'skipped';
  /** What was found, or what to do. */
  readonly detail: string;
  /** The code of the error, where it failed. */
  readonly code?: string;
}

/** Median milliseconds of one small operation, or null where it was not tried. */
export interface DoctorLatency {
  readonly put: number | null;
  readonly get: number | null;
  readonly list: number | null;
  readonly delete: number | null;
}

/** What `tablectl doctor` prints. */
export interface DoctorReport {
  readonly url: string;
  readonly ok: boolean;
  /** Null for stores that are not S3, and where there are no credentials. */
  readonly s3: S3Description | null;
  /** Null where it could not be learned. */
  readonly conditionalWrites: ConditionalWrites | null;
  readonly checks: readonly DoctorCheck[];
  readonly latencyMs: DoctorLatency;
}

const ROUNDS = 3;
const CONTENT = new TextEncoder().encode("Written by 'tablectl doctor'; may be deleted.\n");

/**
 * Tries what tables need of a store: credentials, listing, writing, reading back, conditional create (asked anew, whatever is remembered) and
 * deleting. What fails is in the report and not thrown; the checks after it are skipped. Small objects are written and deleted again; a local
 * folder that is not there is not made.
 */
export async function diagnoseStore(store: Store, ctx: Context, signal?: AbortSignal): Promise<DoctorReport> {
  const options = signal ? { signal } : {};
  const checks: DoctorCheck[] = [];
  const latency = { put: null, get: null, list: null, delete: null } as {
    -readonly [K in keyof DoctorLatency]: number | null;
  };
  const key = `${scratchFolder(store)}doctor-${ctx.ids.uuid()}`;
  let s3: S3Description | null = null;
  let conditionalWrites: ConditionalWrites | null = null;

  const check = async (name: DoctorCheckName, run: () => Promise<string>): Promise<void> => {
    if (checks.some(({ status }) => status === 'failed')) {
      checks.push({ name, status: 'skipped', detail: 'an earlier check failed' });
      return;
    }
    try {
      checks.push({ name, status: 'ok', detail: await run() });
    } catch (error) {
      if (!isTableError(error) || error.code === 'ABORTED') throw error;
      checks.push({ name, status: 'failed', detail: error.message, code: error.code });
    }
  };

  await check('credentials', async () => {
    if (!(store instanceof S3Store)) return 'none needed';
    s3 = await store.describe();
    return `${s3.accessKeyId} at ${s3.endpoint}, region ${s3.region}`;
  });
  await check('list', async () => {
    await assertFolder(store);
    latency.list = await median(ctx, () => firstPage(store, options));
    return 'the log can be listed';
  });
  await check('write', async () => {
    latency.put = await median(ctx, () => store.put(key, CONTENT, options));
    return `${CONTENT.length} bytes written`;
  });
  await check('read', async () => {
    latency.get = await median(ctx, async () => assertSame(await store.get(key, options), store));
    return 'read back as written';
  });
  await check('conditionalWrites', async () => {
    conditionalWrites = await learnConditions(store, key, options);
    return conditionalWrites === 'trusted' ? 'known to be honoured' : conditionalWrites;
  });
  await check('delete', async () => {
    const started = ctx.clock.monotonic();
    await store.delete(key, options);
    latency.delete = ctx.clock.monotonic() - started;
    return 'deleted';
  });
  if (
    checks.at(-1)?.status !== 'ok' &&
    checks.some(({ name, status }) => name === 'write' && status === 'ok')
  )
    await store.delete(key, options).catch(() => undefined);
  const ok = checks.every(({ status }) => status === 'ok');
  return { url: store.url, ok, s3, conditionalWrites, checks, latencyMs: latency };
}

/** For a folder the name of an unfinished write, so that nothing else is left in it, not even a folder. */
function scratchFolder(store: Store): string {
  return store.url.startsWith('file:') ? TEMPORARY_PREFIX : '_intervale/';
}

async function assertFolder(store: Store): Promise<void> {
  if (!store.url.startsWith('file:')) return;
  const found = await stat(fileURLToPath(store.url)).catch(() => undefined);
  if (!found?.isDirectory())
    throw new TableError(
      'NOT_FOUND',
      `There is no folder at ${store.url}; it is made when a table is created there.`,
      { store: store.url },
    );
}

/** The store's own word, and for a store that has none a pair of puts. */
async function learnConditions(
  store: Store,
  key: string,
  options: { readonly signal?: AbortSignal },
): Promise<ConditionalWrites> {
  const said = await probeStore(store, { ...options, force: true });
  const isS3 = store instanceof S3Store;
  if (isS3 && said === 'ignored')
    throw new TableError(
      'UNSAFE_STORE',
      'The server ignores If-None-Match: two writers would lose commits.',
      { store: store.url },
    );
  if (isS3 && said === 'unsupported')
    throw new TableError(
      'STORE_UNSUPPORTED',
      'The server does not support conditional create (If-None-Match).',
      { store: store.url },
    );
  const { outcome } = await store.putIfAbsent(key, CONTENT, options);
  if (outcome === 'created')
    throw new TableError(
      'UNSAFE_STORE',
      'A create of an object that exists succeeded: two writers would lose commits.',
      { store: store.url },
    );
  return isS3 ? said : 'honoured';
}

async function firstPage(store: Store, options: { readonly signal?: AbortSignal }): Promise<void> {
  for await (const _ of store.list('_delta_log/', options)) return;
}

async function assertSame(bytes: Uint8Array, store: Store): Promise<void> {
  if (!Buffer.from(bytes).equals(CONTENT))
    throw new TableError('STORE_FAILED', 'What was read back is not what was written.', { store: store.url });
}

async function median(ctx: Context, run: () => Promise<void>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const started = ctx.clock.monotonic();
    await run();
    times.push(ctx.clock.monotonic() - started);
  }
  return times.sort((a, b) => a - b)[ROUNDS >> 1] ?? 0;
}
