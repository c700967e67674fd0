import { CREATED_BY } from '../parquet/encode.js';
import { joinParts, type PartTail } from '../parquet/encode-join.js';
import type { Context } from '../runtime/context.js';
import { encodePath, hivePartitionFolder } from '../schema/path.js';
import type { Store } from '../store/store.js';
import type { StagePlan } from './plan.js';
import type { SpillFile } from './spill.js';
import type { StagedFile } from './staged.js';
import { type ColumnStatistics, mergeStatistics, statisticsJson } from './statistics.js';

/** An encoded row group that waits for its file to be full, in memory or in the spill file. */
export interface Part extends PartTail {
  readonly bytes: Uint8Array | { readonly spill: SpillFile; readonly at: number };
  readonly rows: number;
  readonly statistics: readonly ColumnStatistics[];
}

/** Above this a file is sent as a stream. */
const STREAM_BYTES = 32 * 2 ** 20;
const STREAM_CHUNK = 4 * 2 ** 20;

/** Where a file goes and what the log will say of its partition. */
export interface FilePlace {
  readonly names: readonly string[];
  readonly raws: readonly (string | null)[];
  readonly folder: string | undefined;
  /** Files of one write are numbered. */
  readonly number: number;
}

/** The object key of a new data file: Spark's way of naming, in the folder of its partition. */
export function fileKey({ names, raws, folder, number }: FilePlace, uuid: string): string {
  const name = `part-${String(number).padStart(5, '0')}-${uuid}.c000.snappy.parquet`;
  return [folder, hivePartitionFolder(names, raws), name].filter(Boolean).join('/');
}

/** Joins parts to one file and stores it. The object is durable when this resolves; on failure it may be there or not. */
export async function storeFile(
  store: Store,
  ctx: Context,
  plan: StagePlan,
  place: FilePlace,
  key: string,
  parts: readonly Part[],
  signal: AbortSignal | undefined,
): Promise<StagedFile> {
  const [only] = parts;
  const whole = parts.length === 1 && only!.bytes instanceof Uint8Array ? only!.bytes : undefined;
  const size = whole ? await putWhole(store, key, whole, signal) : await putJoined(store, key, parts, signal);
  const rows = parts.reduce((sum, part) => sum + part.rows, 0);
  const statistics = mergeStatistics(
    plan.statistics,
    parts.map((part) => part.statistics),
  );
  return {
    path: encodePath(key),
    partitionValues: Object.fromEntries(place.names.map((name, i) => [name, place.raws[i] ?? null])),
    size,
    modificationTime: ctx.clock.now(),
    rows,
    stats: statisticsJson(plan.statistics, rows, statistics),
  };
}

async function putWhole(
  store: Store,
  key: string,
  bytes: Uint8Array,
  signal: AbortSignal | undefined,
): Promise<number> {
  if (bytes.length > STREAM_BYTES) return store.putStream(key, slicesOf(bytes), { signal });
  await store.put(key, bytes, { signal });
  return bytes.length;
}

async function putJoined(
  store: Store,
  key: string,
  parts: readonly Part[],
  signal: AbortSignal | undefined,
): Promise<number> {
  const joined = joinParts(parts, CREATED_BY);
  async function* pieces(): AsyncGenerator<Uint8Array> {
    yield joined.head;
    for (const [i, { start, end }] of joined.pages.entries()) {
      const { bytes } = parts[i]!;
      if (bytes instanceof Uint8Array) yield* slicesOf(bytes.subarray(start, end));
      else {
        for (let at = start; at < end; at += STREAM_CHUNK) {
          yield await bytes.spill.read(bytes.at + at, Math.min(STREAM_CHUNK, end - at));
        }
      }
    }
    yield joined.tail;
  }
  if (joined.size > STREAM_BYTES) return store.putStream(key, pieces(), { signal });
  const all = new Uint8Array(joined.size);
  let at = 0;
  for await (const piece of pieces()) {
    all.set(piece, at);
    at += piece.length;
  }
  await store.put(key, all, { signal });
  return joined.size;
}

async function* slicesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += STREAM_CHUNK) yield bytes.subarray(at, at + STREAM_CHUNK);
}
