import { isTableError, TableError } from '../errors.js';
import type { Store } from '../store/store.js';

/** A Parquet file read by ranges. `size` is bytes. */
export interface FileSource {
  readonly size: number;
  /** Bytes [start, end), all of them: `CORRUPT_DATA_FILE` where the object is shorter, `FILE_NOT_FOUND` where there is none. Not to be changed. */
  read(start: number, end: number): Promise<Uint8Array>;
}

/** Bytes [start, end) of a file. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** What gives several ranges of a file at once. */
export interface RangeReader {
  /** The bytes of each range, not to be changed. Errors as `FileSource.read`. */
  readAll(ranges: readonly ByteRange[]): Promise<Uint8Array[]>;
}

export interface SourceOptions {
  readonly signal?: AbortSignal;
  /** Files up to this size are fetched whole by the first read; 1 MiB by default. A wider scan raises it: all bytes are needed anyway. */
  readonly wholeBelow?: number;
}

/** Where one more request costs less than the bytes of the whole file. */
export const SMALL_FILE = 1 << 20;
/** Two ranges no further apart than this are fetched as one: the bytes between cost less than another request. */
const GAP = 256 * 1024;

interface Held {
  readonly start: number;
  readonly end: number;
  readonly bytes: Promise<Uint8Array>;
}

/**
 * An object as a source. Small files and the tail read for the footer are kept until `release`, so that they serve column chunks too. No HEAD: the log knows the size.
 */
export class StoreSource implements FileSource, RangeReader {
  readonly size: number;
  readonly #store: Store;
  readonly #key: string;
  readonly #options: SourceOptions;
  #held: Held[] = [];
  #wholeBelow: number;

  constructor(store: Store, key: string, size: number, options: SourceOptions = {}) {
    this.#store = store;
    this.#key = key;
    this.size = size;
    this.#options = options;
    this.#wholeBelow = options.wholeBelow ?? SMALL_FILE;
  }

  /** What no other file is called: data files never change, and their names and sizes stand in the log. */
  get name(): string {
    return `${this.#store.url}/${this.#key}#${this.size}`;
  }

  /** True for a file that the next read fetches whole, or that one before has. */
  get isWhole(): boolean {
    return this.size <= this.#wholeBelow;
  }

  /** The next read fetches the whole file. */
  takeWhole(): void {
    this.#wholeBelow = Number.POSITIVE_INFINITY;
  }

  /** True where bytes [start, end) are at hand, or on their way. */
  holds(start: number, end: number): boolean {
    return this.#holder(start, end) !== undefined;
  }

  async read(start: number, end: number): Promise<Uint8Array> {
    const known = this.#holder(start, end);
    if (known) return (await known.bytes).subarray(start - known.start, end - known.start);
    const from = this.isWhole ? 0 : start;
    const to = this.isWhole ? this.size : end;
    const bytes = this.#fetch(from, to);
    if (to === this.size) {
      const held = { start: from, end: to, bytes };
      this.#held.push(held);
      bytes.catch(() => {
        this.#held = this.#held.filter((other) => other !== held);
      });
    }
    return (await bytes).subarray(start - from, end - from);
  }

  /** The bytes of each range; those close together are fetched in one request, and all requests at once. */
  async readAll(ranges: readonly ByteRange[]): Promise<Uint8Array[]> {
    const merged = this.isWhole ? [] : coalesce(ranges);
    const fetched = merged.map(async (range) => ({
      ...range,
      bytes: await this.read(range.start, range.end),
    }));
    const parts = await Promise.all(fetched);
    return Promise.all(
      ranges.map(async ({ start, end }) => {
        const part = partOf(parts, start);
        return part ? part.bytes.subarray(start - part.start, end - part.start) : this.read(start, end);
      }),
    );
  }

  /** Forgets what was read. */
  release(): void {
    this.#held = [];
  }

  #holder(start: number, end: number): Held | undefined {
    return this.#held.find((held) => held.start <= start && end <= held.end);
  }

  async #fetch(start: number, end: number): Promise<Uint8Array> {
    const { signal } = this.#options;
    try {
      const bytes = await this.#store.getRange(this.#key, start, end, { signal });
      if (bytes.length >= end - start) return bytes;
    } catch (error) {
      throw missingAs(error, this.#key);
    }
    throw new TableError(
      'CORRUPT_DATA_FILE',
      `The file ${this.#key} ends before byte ${end}, though the log says it has ${this.size} bytes.`,
      { file: this.#key, size: this.size },
    );
  }
}

/** A reader that keeps each range it has read: what is asked for again costs nothing. */
export function rememberingReader(source: RangeReader): RangeReader {
  const known = new Map<number, Uint8Array>();
  return {
    readAll: async (ranges) => {
      const isKnown = ({ start, end }: ByteRange) => known.get(start)?.length === end - start;
      const missing = ranges.filter((range) => !isKnown(range));
      const bytes = await source.readAll(missing);
      for (const [i, { start }] of missing.entries()) known.set(start, bytes[i]!);
      return ranges.map(({ start }) => known.get(start)!);
    },
  };
}

/** A file that the log names and the store lacks is a fault of the table, not of the call. */
export function missingAs(error: unknown, key: string): unknown {
  if (!isTableError(error, 'NOT_FOUND')) return error;
  return new TableError(
    'FILE_NOT_FOUND',
    `The file ${key} is in the log but not in the store. It may have been vacuumed; restore it, or read a version that does not need it.`,
    { file: key },
    error,
  );
}

/** The part that holds a byte, of parts that are sorted and cover it; undefined where there are none. */
function partOf<T extends ByteRange>(parts: readonly T[], byte: number): T | undefined {
  let from = 0;
  for (let to = parts.length; from < to; ) {
    const middle = (from + to) >> 1;
    if (parts[middle]!.start <= byte) from = middle + 1;
    else to = middle;
  }
  return parts[from - 1];
}

/** Sorted, disjoint ranges that cover those given. */
export function coalesce(ranges: readonly ByteRange[]): ByteRange[] {
  const merged: { start: number; end: number }[] = [];
  for (const { start, end } of [...ranges].sort((a, b) => a.start - b.start)) {
    const last = merged.at(-1);
    if (last !== undefined && start - last.end <= GAP) last.end = Math.max(last.end, end);
    else merged.push({ start, end });
  }
  return merged;
}
