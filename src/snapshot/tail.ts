import { decodeUtf8, encodeUtf8, equalBytes, hashBytes, powerOfTwo } from '../parquet/flat/byte-text.js';
import type { Interner } from '../parquet/flat/interner.js';
import { type FileLine, scanPartitionValues } from './add-line.js';
import { PartitionValues } from './partition-values.js';
import { vectorId } from './vector-id.js';

/**
 * The file actions of JSON commits, in columns that point into the commits' own bytes. It only grows: a state sees the rows below its own count, and its
 * successor appends behind them, so that deriving a state copies nothing. A state that is not the newest clones the tail first.
 */
export class Tail {
  readonly partitions: PartitionValues;
  buffers: Uint8Array[] = [];
  count = 0;
  source = new Int32Array(0);
  lineStart = new Int32Array(0);
  lineEnd = new Int32Array(0);
  pathStart = new Int32Array(0);
  pathLength = new Int32Array(0);
  hash = new Int32Array(0);
  size = new Float64Array(0);
  time = new Float64Array(0);
  statsStart = new Int32Array(0);
  statsEnd = new Int32Array(0);
  /** Partition value codes by column number; a column that no file has named yet is missing and means NULL. */
  columns: Int32Array[] = [];
  /** Rows with a deletion vector: the start and end of its object in the line's buffer. */
  readonly vectors = new Map<number, readonly [start: number, end: number]>();
  /** Rows whose lines say more than the columns here hold. */
  readonly extras = new Set<number>();
  /** Paths that had escapes, decoded. */
  readonly escaped = new Map<number, Uint8Array>();
  /** The lines of `remove` actions: buffer, start, end. */
  removals = new Int32Array(0);
  removalCount = 0;
  #table = new Int32Array(0);

  constructor(partitions = new PartitionValues()) {
    this.partitions = partitions;
  }

  /** Makes room for `more` rows without further copying. */
  reserve(more: number): void {
    const needed = this.count + more;
    if (needed <= this.source.length) return;
    const capacity = Math.max(needed, Math.ceil(this.source.length * 1.5), 16);
    this.source = grownInts(this.source, capacity);
    this.lineStart = grownInts(this.lineStart, capacity);
    this.lineEnd = grownInts(this.lineEnd, capacity);
    this.pathStart = grownInts(this.pathStart, capacity);
    this.pathLength = grownInts(this.pathLength, capacity);
    this.hash = grownInts(this.hash, capacity);
    this.statsStart = grownInts(this.statsStart, capacity);
    this.statsEnd = grownInts(this.statsEnd, capacity);
    this.size = grownDoubles(this.size, capacity);
    this.time = grownDoubles(this.time, capacity);
    this.columns = this.columns.map((column) => grownInts(column, capacity));
  }

  /**
   * Appends a scanned `add`; the line's buffer is the newest one. `whole` gives its partition values by parsing, for lines whose values cannot be scanned.
   */
  push(bytes: Uint8Array, start: number, end: number, line: FileLine): number {
    this.reserve(1);
    const row = this.count;
    this.source[row] = this.buffers.length - 1;
    this.lineStart[row] = start;
    this.lineEnd[row] = end;
    this.pathStart[row] = line.pathStart;
    this.pathLength[row] = line.pathEnd - line.pathStart;
    this.hash[row] = line.pathHash;
    if (line.pathEscaped) {
      const path = unescapeJson(bytes, line.pathStart, line.pathEnd);
      this.escaped.set(row, path);
      this.pathLength[row] = path.length;
      this.hash[row] = hashBytes(path, 0, path.length);
    }
    this.size[row] = line.size;
    this.time[row] = line.modificationTime;
    this.statsStart[row] = line.statsStart;
    this.statsEnd[row] = line.statsEnd;
    if (line.extra) this.extras.add(row);
    if (line.vectorStart >= 0) this.vectors.set(row, [line.vectorStart, line.vectorEnd]);
    if (line.partitionStart >= 0) this.#pushPartitionValues(bytes, line, row);
    this.count++;
    return row;
  }

  #pushPartitionValues(bytes: Uint8Array, line: FileLine, row: number): void {
    const scanned = scanPartitionValues(
      bytes,
      line.partitionStart,
      line.partitionEnd,
      (keyStart, keyEnd, valueStart, valueEnd) => {
        const column = this.partitions.column(bytes, keyStart, keyEnd - keyStart);
        const code =
          valueStart < 0
            ? 0
            : (this.partitions.interners[column] as Interner).intern(
                bytes,
                valueStart,
                valueEnd - valueStart,
              );
        this.#setCode(column, row, code);
      },
    );
    if (scanned) return;
    const values = JSON.parse(decodeUtf8(bytes, line.partitionStart, line.partitionEnd)) as Record<
      string,
      unknown
    >;
    for (const [key, value] of Object.entries(values)) {
      const name = encodeUtf8(key);
      const column = this.partitions.column(name, 0, name.length);
      const text = value === null ? undefined : typeof value === 'string' ? value : JSON.stringify(value);
      this.#setCode(
        column,
        row,
        text === undefined ? 0 : (this.partitions.interners[column] as Interner).internText(text),
      );
    }
  }

  #setCode(column: number, row: number, code: number): void {
    while (this.columns.length <= column) this.columns.push(new Int32Array(this.source.length));
    (this.columns[column] as Int32Array)[row] = code;
  }

  pushRemoval(start: number, end: number): void {
    const at = this.removalCount * 3;
    if (at + 3 > this.removals.length)
      this.removals = grownInts(this.removals, Math.max(48, this.removals.length * 2));
    this.removals[at] = this.buffers.length - 1;
    this.removals[at + 1] = start;
    this.removals[at + 2] = end;
    this.removalCount++;
  }

  /** The buffer that the path of a row lies in; `pathOffset` says where. */
  pathBuffer(row: number): Uint8Array {
    return (
      (this.escaped.size > 0 ? this.escaped.get(row) : undefined) ??
      (this.buffers[this.source[row] as number] as Uint8Array)
    );
  }

  pathOffset(row: number): number {
    return this.escaped.size > 0 && this.escaped.has(row) ? 0 : (this.pathStart[row] as number);
  }

  path(row: number): string {
    const start = this.pathOffset(row);
    return decodeUtf8(this.pathBuffer(row), start, start + (this.pathLength[row] as number));
  }

  vectorId(row: number): string | undefined {
    const span = this.vectors.size > 0 ? this.vectors.get(row) : undefined;
    if (span === undefined) return undefined;
    return vectorId(
      JSON.parse(
        decodeUtf8(this.buffers[this.source[row] as number] as Uint8Array, span[0], span[1]),
      ) as never,
    );
  }

  line(row: number): { bytes: Uint8Array; start: number; end: number } {
    return {
      bytes: this.buffers[this.source[row] as number] as Uint8Array,
      start: this.lineStart[row] as number,
      end: this.lineEnd[row] as number,
    };
  }

  /** Enters a row in the index of paths. */
  index(row: number): void {
    if (this.#table.length < (row + 1) * 2) this.#rehash(row);
    else this.#insert(row);
  }

  #rehash(newest: number): void {
    this.#table = new Int32Array(powerOfTwo(Math.max(this.source.length, newest + 1) * 2));
    for (let row = 0; row <= newest; row++) this.#insert(row);
  }

  #insert(row: number): void {
    const table = this.#table;
    const mask = table.length - 1;
    const hash = this.hash[row] as number;
    let slot = (hash ^ (hash >>> 15)) & mask;
    while (table[slot] !== 0) slot = (slot + 1) & mask;
    table[slot] = row + 1;
  }

  /** True where any indexed row has this path; allocates nothing, for the many paths that are new. */
  has(bytes: Uint8Array, start: number, length: number, hash: number): boolean {
    const table = this.#table;
    if (table.length === 0) return false;
    const mask = table.length - 1;
    for (let slot = (hash ^ (hash >>> 15)) & mask; ; slot = (slot + 1) & mask) {
      const row = (table[slot] as number) - 1;
      if (row < 0) return false;
      if (this.hash[row] !== hash || this.pathLength[row] !== length) continue;
      if (equalBytes(this.pathBuffer(row), this.pathOffset(row), bytes, start, length)) return true;
    }
  }

  /** Calls `onRow` for every indexed row below `before` with this path, dead ones too. */
  rowsOf(
    bytes: Uint8Array,
    start: number,
    length: number,
    hash: number,
    before: number,
    onRow: (row: number) => void,
  ): void {
    const table = this.#table;
    if (table.length === 0) return;
    const mask = table.length - 1;
    for (let slot = (hash ^ (hash >>> 15)) & mask; ; slot = (slot + 1) & mask) {
      const row = (table[slot] as number) - 1;
      if (row < 0) return;
      if (row >= before || this.hash[row] !== hash || this.pathLength[row] !== length) continue;
      if (equalBytes(this.pathBuffer(row), this.pathOffset(row), bytes, start, length)) onRow(row);
    }
  }

  /** A tail of its own with the first `count` rows and `removals` removals, for a state that is not the newest of its line. */
  clone(count: number, removals: number): Tail {
    const copy = new Tail(this.partitions);
    copy.buffers = [...this.buffers];
    copy.source = this.source.slice(0, count);
    copy.lineStart = this.lineStart.slice(0, count);
    copy.lineEnd = this.lineEnd.slice(0, count);
    copy.pathStart = this.pathStart.slice(0, count);
    copy.pathLength = this.pathLength.slice(0, count);
    copy.hash = this.hash.slice(0, count);
    copy.size = this.size.slice(0, count);
    copy.time = this.time.slice(0, count);
    copy.statsStart = this.statsStart.slice(0, count);
    copy.statsEnd = this.statsEnd.slice(0, count);
    copy.columns = this.columns.map((column) => column.slice(0, count));
    for (const [row, span] of this.vectors) if (row < count) copy.vectors.set(row, span);
    for (const row of this.extras) if (row < count) copy.extras.add(row);
    for (const [row, path] of this.escaped) if (row < count) copy.escaped.set(row, path);
    copy.removals = this.removals.slice(0, removals * 3);
    copy.removalCount = removals;
    copy.count = count;
    if (count > 0) copy.#rehash(count - 1);
    return copy;
  }
}

/** The bytes of a JSON string's content [start, end), its escapes resolved. Throws `SyntaxError` for escapes that JSON does not have. */
export function unescapeJson(bytes: Uint8Array, start: number, end: number): Uint8Array {
  return encodeUtf8(JSON.parse(`"${decodeUtf8(bytes, start, end)}"`) as string);
}

function grownInts(from: Int32Array, capacity: number): Int32Array<ArrayBuffer> {
  const to = new Int32Array(capacity);
  to.set(from);
  return to;
}

function grownDoubles(from: Float64Array, capacity: number): Float64Array<ArrayBuffer> {
  const to = new Float64Array(capacity);
  to.set(from);
  return to;
}
