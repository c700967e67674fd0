import { TableError } from '../errors.js';
import { parseActionLine } from '../log/action-lines.js';
import type { Action, AddAction } from '../log/actions.js';
import { encodeUtf8, hashBytes } from '../parquet/flat/byte-text.js';
import { abortError } from '../runtime/system.js';
import type { RequestOptions } from '../store/store.js';
import { hasBit } from './bits.js';
import type { FileBlock } from './block.js';
import { jsonStatistics, NO_COUNT, readCount } from './json-statistics.js';
import type { FileSet, FileSetNeeds, PartitionColumn, StatisticsColumn } from './state.js';
import type { ColumnTokens, StatisticsSource } from './statistics.js';
import type { Tail } from './tail.js';
import { Unescaper } from './unescaper.js';

/** What a file set is made of. Ids count through the blocks, then through the rows of the tail. */
export interface FileParts {
  readonly blocks: readonly FileBlock[];
  readonly tail: Tail;
  readonly tailCount: number;
  /** Bits of dead rows by block; undefined where none is dead. Never changed once a set holds them. */
  readonly deadBlocks: readonly (Uint8Array | undefined)[];
  readonly deadTail: Uint8Array | undefined;
  readonly count: number;
  readonly bytes: number;
  /** Physical names of the table's partition columns. */
  readonly partitionNames: readonly string[];
}

/** The live files of one version, over blocks of a checkpoint and a tail of commits that its neighbours share. */
export class BlockFileSet implements FileSet {
  readonly parts: FileParts;
  readonly capacity: number;
  readonly #bases: number[] = [];
  readonly #tailBase: number;
  #ids: Int32Array | undefined;
  #tailStatistics: StatisticsSource | undefined;
  readonly #partitions = new Map<string, PartitionColumn>();

  constructor(parts: FileParts) {
    this.parts = parts;
    let base = 0;
    for (const block of parts.blocks) {
      this.#bases.push(base);
      base += block.count;
    }
    this.#tailBase = base;
    this.capacity = base + parts.tailCount;
  }

  get count(): number {
    return this.parts.count;
  }

  totalSize(): number {
    return this.parts.bytes;
  }

  ids(): Int32Array {
    if (this.#ids !== undefined) return this.#ids;
    const ids = new Int32Array(this.count);
    let at = 0;
    this.parts.blocks.forEach((block, index) => {
      const base = this.#bases[index] as number;
      const dead = this.parts.deadBlocks[index];
      for (let row = 0; row < block.count; row++) if (!hasBit(dead, row)) ids[at++] = base + row;
    });
    for (let row = 0; row < this.parts.tailCount; row++)
      if (!hasBit(this.parts.deadTail, row)) ids[at++] = this.#tailBase + row;
    this.#ids = ids;
    return ids;
  }

  path(id: number): string {
    const block = this.#block(id);
    return block < 0
      ? this.parts.tail.path(id - this.#tailBase)
      : this.#at(block).path(id - (this.#bases[block] as number));
  }

  size(id: number): number {
    const block = this.#block(id);
    return block < 0
      ? (this.parts.tail.size[id - this.#tailBase] as number)
      : this.#at(block).size(id - (this.#bases[block] as number));
  }

  modificationTime(id: number): number {
    const block = this.#block(id);
    return block < 0
      ? (this.parts.tail.time[id - this.#tailBase] as number)
      : this.#at(block).modificationTime(id - (this.#bases[block] as number));
  }

  hasDeletionVector(id: number): boolean {
    const block = this.#block(id);
    return block < 0
      ? this.parts.tail.vectors.has(id - this.#tailBase)
      : this.#at(block).hasVector(id - (this.#bases[block] as number));
  }

  add(id: number): AddAction {
    this.#assertLoaded('actions');
    const block = this.#block(id);
    return block < 0
      ? tailAdd(this.parts.tail, id - this.#tailBase)
      : this.#at(block).add(id - (this.#bases[block] as number));
  }

  numRecords(id: number): number | undefined {
    this.#assertLoaded('statistics');
    const block = this.#block(id);
    return block < 0
      ? this.#statisticsOfTail().numRecords(id - this.#tailBase)
      : this.#at(block).numRecords(id - (this.#bases[block] as number));
  }

  statistics(path: readonly string[]): StatisticsColumn {
    this.#assertLoaded('statistics');
    const tail = this.parts.tailCount > 0 ? this.#statisticsOfTail().column(path) : undefined;
    const columns = this.parts.blocks.map((block) => block.column(path));
    const of = <T>(id: number, take: (column: ColumnTokens, row: number) => T): T | undefined => {
      const block = this.#block(id);
      if (block >= 0) return take(columns[block] as ColumnTokens, id - (this.#bases[block] as number));
      return tail && take(tail, id - this.#tailBase);
    };
    return {
      min: (id) => of(id, (column, row) => column.min(row)),
      max: (id) => of(id, (column, row) => column.max(row)),
      nullCount: (id) => of(id, (column, row) => column.nullCount(row)),
    };
  }

  partition(name: string): PartitionColumn | undefined {
    if (!this.parts.partitionNames.includes(name)) return undefined;
    let column = this.#partitions.get(name);
    if (column === undefined) {
      column = this.#makePartition(name);
      this.#partitions.set(name, column);
    }
    return column;
  }

  #makePartition(name: string): PartitionColumn {
    const codes = new Int32Array(this.capacity);
    const number = this.parts.tail.partitions.find(name);
    if (number === undefined) return { codes, values: [null] };
    this.parts.blocks.forEach((block, index) => {
      const own = block.columns[number];
      if (own !== undefined) codes.set(own, this.#bases[index]);
    });
    const own = this.parts.tail.columns[number];
    if (own !== undefined) codes.set(own.subarray(0, this.parts.tailCount), this.#tailBase);
    const interner = this.parts.tail.partitions.interners[number];
    return { codes, values: interner === undefined ? [null] : interner.values };
  }

  find(path: string, deletionVectorId: string | undefined): number {
    const bytes = encodeUtf8(path);
    const hash = hashBytes(bytes, 0, bytes.length);
    let found = -1;
    this.parts.tail.rowsOf(bytes, 0, bytes.length, hash, this.parts.tailCount, (row) => {
      if (!hasBit(this.parts.deadTail, row) && this.parts.tail.vectorId(row) === deletionVectorId)
        found = this.#tailBase + row;
    });
    if (found >= 0) return found;
    this.parts.blocks.forEach((block, index) => {
      block.rowsOf(bytes, 0, bytes.length, hash, (row) => {
        if (!hasBit(this.parts.deadBlocks[index], row) && block.vectorId(row) === deletionVectorId)
          found = (this.#bases[index] as number) + row;
      });
    });
    return found;
  }

  async load(needs: FileSetNeeds, options?: RequestOptions): Promise<void> {
    if (options?.signal?.aborted) throw abortError(options.signal);
    await Promise.all(this.parts.blocks.map((block) => block.load(needs)));
  }

  #assertLoaded(need: keyof FileSetNeeds): void {
    for (const block of this.parts.blocks) {
      if (!block.loaded(need)) {
        throw new TableError(
          'INTERNAL',
          `The files' ${need} were asked for before load({ ${need}: true }).`,
          { need },
        );
      }
    }
  }

  /** The block an id lies in, or -1 for the tail. */
  #block(id: number): number {
    if (id >= this.#tailBase) return -1;
    const bases = this.#bases;
    let low = 0;
    let high = bases.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((bases[middle] as number) <= id) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #at(block: number): FileBlock {
    return this.parts.blocks[block] as FileBlock;
  }

  #statisticsOfTail(): StatisticsSource {
    const { tail, tailCount, deadTail } = this.parts;
    const unescaper = new Unescaper();
    this.#tailStatistics ??= jsonStatistics({
      rows: tailCount,
      count: (row) => leadingCount(tail, row),
      span(row) {
        const start = tail.statsStart[row] as number;
        if (start < 0 || hasBit(deadTail, row)) return undefined;
        return unescaper.resolve(
          tail.buffers[tail.source[row] as number] as Uint8Array,
          start,
          tail.statsEnd[row] as number,
        );
      },
    });
    return this.#tailStatistics;
  }
}

/** How statistics begin within a line of the log, as nearly all writers write them. */
const COUNT_FIRST = encodeUtf8('{\\"numRecords\\":');

/** The number of records where a row's statistics begin with it; then nothing has to be resolved to learn it. */
function leadingCount(tail: Tail, row: number): number | undefined {
  const start = tail.statsStart[row] as number;
  if (start < 0) return undefined;
  const bytes = tail.buffers[tail.source[row] as number] as Uint8Array;
  for (let i = 0; i < COUNT_FIRST.length; i++) if (bytes[start + i] !== COUNT_FIRST[i]) return undefined;
  const count = readCount(bytes, start + COUNT_FIRST.length, tail.statsEnd[row] as number);
  return count === NO_COUNT ? undefined : count;
}

/** The whole action of a tail's row, parsed from its line. */
export function tailAdd(tail: Tail, row: number): AddAction {
  const { bytes, start, end } = tail.line(row);
  const actions: Action[] = [];
  parseActionLine(bytes, start, end, { version: -1, file: 'a commit' }, actions);
  const action = actions[0];
  if (action === undefined || !('add' in action))
    throw new TableError('INTERNAL', 'A line of the log that was an add is none.', {});
  return action.add;
}
