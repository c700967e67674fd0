import { TableError } from '../errors.js';
import { emptyCommit, type LogLocation, parseActionLine, serializeActions } from '../log/action-lines.js';
import type { Action, AddAction, RemoveAction } from '../log/actions.js';
import { assertPathLength, LOG_LIMITS, lineTooLong } from '../log/limits.js';
import { decodeUtf8, encodeUtf8, hashBytes } from '../parquet/flat/byte-text.js';
import { emptyFileLine, endScan, scanFileLine } from './add-line.js';
import { hasBit } from './bits.js';
import type { FileBlock } from './block.js';
import { BlockFileSet, type FileParts } from './files.js';
import type { PartitionValues } from './partition-values.js';
import type { PathKey } from './path-scan.js';
import { Tail, unescapeJson } from './tail.js';
import { vectorId } from './vector-id.js';

/** A logical file: its path and the id of its deletion vector. */
interface FileKey extends PathKey {
  readonly vector: string | undefined;
}

const NEWLINE = 0x0a;
const BYTE_ORDER_MARK = Uint8Array.of(0xef, 0xbb, 0xbf);
const ADD = encodeUtf8('{"add":{');
const REMOVE = encodeUtf8('{"remove":{');
/** Lines that say nothing about live files, of which a commit may have very many. */
const CDC = encodeUtf8('{"cdc":{');
/** Room is made for one add in this many bytes of a commit before it is scanned. */
const ROOM_BYTES = 512;
/** A tail with fewer rows than this is never worth rewriting. */
const COMPACT_FROM = 4096;
const DELETED_AT = encodeUtf8('"deletionTimestamp":');

/**
 * Derives a file set from another by commits in order (protocol: Action Reconciliation). Within a commit the order of lines says nothing: its removes apply to
 * the state before it, then its adds; the newest reference to a path and deletion vector wins. What the given parts hold is never changed.
 */
export class Replay {
  readonly #blocks: readonly FileBlock[];
  #tail: Tail;
  readonly #deadBlocks: (Uint8Array | undefined)[];
  readonly #ownDead: boolean[];
  #deadTail: Uint8Array;
  #count: number;
  #bytes: number;
  #dead = 0;
  /** Files that the commits so far have named: whatever the blocks say of them is old. */
  #named: FileKey[] = [];
  readonly #line = emptyFileLine();

  constructor(parts: FileParts, removals: number) {
    this.#blocks = parts.blocks;
    const shared = parts.tail.count === parts.tailCount && parts.tail.removalCount === removals;
    this.#tail = shared ? parts.tail : parts.tail.clone(parts.tailCount, removals);
    this.#deadBlocks = [...parts.deadBlocks];
    this.#ownDead = parts.blocks.map(() => false);
    this.#deadTail = new Uint8Array((parts.tailCount >> 3) + 1);
    if (parts.deadTail !== undefined) this.#deadTail.set(parts.deadTail.subarray(0, this.#deadTail.length));
    this.#count = parts.count;
    this.#bytes = parts.bytes;
  }

  /** A replay that starts from the blocks of a checkpoint, or from nothing. */
  static over(blocks: readonly FileBlock[], partitions: PartitionValues): Replay {
    let count = 0;
    let bytes = 0;
    for (const block of blocks) {
      count += block.count;
      bytes += block.bytes;
    }
    const tail = new Tail(partitions);
    return new Replay(
      {
        blocks,
        tail,
        tailCount: 0,
        deadBlocks: blocks.map(() => undefined),
        deadTail: undefined,
        count,
        bytes,
        partitionNames: [],
      },
      0,
    );
  }

  /**
   * Applies one commit given as the bytes of its file, which are kept and must not change any more. Every action but adds, removes and change data goes to `onAction`.
   * Throws `CORRUPT_LOG` and `LIMIT_EXCEEDED`, with the file's name; the replay is of no use then.
   */
  commit(bytes: Uint8Array, where: LogLocation, onAction: (action: Action) => void): void {
    const tail = this.#tail;
    const first = tail.count;
    const removed: FileKey[] = [];
    const own = tail.buffers.length;
    tail.buffers.push(bytes);
    tail.reserve(Math.ceil(bytes.length / ROOM_BYTES));
    const { length } = bytes;
    let at = startsWith(bytes, 0, BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
    let lines = 0;
    for (; at < length; lines++) {
      while (at < length && (bytes[at] as number) <= 0x20) at++;
      if (at === length) break;
      const start = at;
      const line = this.#line;
      if (startsWith(bytes, start, ADD) && scanFileLine(bytes, start + ADD.length, length, line)) {
        at = line.end;
        this.#check(start, where);
        tail.push(bytes, start, at, line);
      } else if (
        startsWith(bytes, start, REMOVE) &&
        scanFileLine(bytes, start + REMOVE.length, length, line)
      ) {
        at = line.end;
        this.#check(start, where);
        removed.push(this.#removedKey(bytes));
        tail.pushRemoval(start, at);
      } else {
        const newline = bytes.indexOf(NEWLINE, start);
        at = newline < 0 ? length : newline;
        let end = at;
        while ((bytes[end - 1] as number) <= 0x20) end--;
        if (isPlainCdc(bytes, start, end)) continue;
        this.#parsed(bytes, start, end, where, removed, onAction);
        if (tail.buffers.length - 1 !== own) tail.buffers.push(bytes);
      }
    }
    endScan();
    if (lines === 0) throw emptyCommit(where);
    this.#reconcile(first, removed);
  }

  /** A line out of the ordinary: parsed whole, its file actions written again in the ordinary form and scanned from there. */
  #parsed(
    bytes: Uint8Array,
    start: number,
    end: number,
    where: LogLocation,
    removed: FileKey[],
    onAction: (action: Action) => void,
  ): void {
    const actions: Action[] = [];
    parseActionLine(bytes, start, end, where, actions);
    for (const action of actions) {
      if ('add' in action || 'remove' in action) this.#ordinary(action, where, removed);
      else if (!('cdc' in action)) onAction(action);
    }
  }

  #ordinary(
    action: { readonly add: AddAction } | { readonly remove: RemoveAction },
    where: LogLocation,
    removed: FileKey[],
  ): void {
    const written = serializeActions([action]);
    const end = written.length - 1;
    this.#tail.buffers.push(written);
    const isAdd = 'add' in action;
    if (!scanFileLine(written, (isAdd ? ADD : REMOVE).length, end, this.#line)) {
      throw new TableError(
        'CORRUPT_LOG',
        `${where.file} (version ${where.version}) has a file action with a size or time that no file has.`,
        { ...where },
      );
    }
    if (isAdd) {
      this.#tail.push(written, 0, end, this.#line);
    } else {
      removed.push(this.#removedKey(written));
      this.#tail.pushRemoval(0, end);
    }
  }

  #check(start: number, where: LogLocation): void {
    const { pathStart, pathEnd, end } = this.#line;
    if (pathEnd - pathStart > LOG_LIMITS.pathLength)
      assertPathLength('x'.repeat(pathEnd - pathStart), where.file);
    if (end - start > LOG_LIMITS.lineBytes) throw lineTooLong(where.file);
  }

  #removedKey(bytes: Uint8Array): FileKey {
    const line = this.#line;
    const vector =
      line.vectorStart < 0
        ? undefined
        : vectorId(JSON.parse(decodeUtf8(bytes, line.vectorStart, line.vectorEnd)) as never);
    if (!line.pathEscaped)
      return {
        bytes,
        start: line.pathStart,
        length: line.pathEnd - line.pathStart,
        hash: line.pathHash,
        vector,
      };
    const path = unescapeJson(bytes, line.pathStart, line.pathEnd);
    return { bytes: path, start: 0, length: path.length, hash: hashBytes(path, 0, path.length), vector };
  }

  #reconcile(first: number, removed: readonly FileKey[]): void {
    const tail = this.#tail;
    if (this.#deadTail.length * 8 < tail.count) {
      const bits = new Uint8Array((tail.source.length >> 3) + 1);
      bits.set(this.#deadTail);
      this.#deadTail = bits;
    }
    const hasBlocks = this.#blocks.length > 0;
    for (const key of removed) {
      this.#kill(key.bytes, key.start, key.length, key.hash, key.vector, first);
      if (hasBlocks) this.#named.push(key);
    }
    for (let row = first; row < tail.count; row++) {
      this.#count++;
      this.#bytes += tail.size[row] as number;
      const bytes = tail.pathBuffer(row);
      const start = tail.pathOffset(row);
      const length = tail.pathLength[row] as number;
      const hash = tail.hash[row] as number;
      if (hasBlocks) this.#named.push({ bytes, start, length, hash, vector: tail.vectorId(row) });
      if (tail.has(bytes, start, length, hash))
        this.#kill(bytes, start, length, hash, tail.vectorId(row), row);
      tail.index(row);
    }
  }

  /** Marks the live file with this key dead, if there is one among the tail's rows below `before`. */
  #kill(
    bytes: Uint8Array,
    start: number,
    length: number,
    hash: number,
    vector: string | undefined,
    before: number,
  ): void {
    const tail = this.#tail;
    tail.rowsOf(bytes, start, length, hash, before, (row) => {
      if (hasBit(this.#deadTail, row) || tail.vectorId(row) !== vector) return;
      this.#deadTail[row >> 3] = (this.#deadTail[row >> 3] as number) | (1 << (row & 7));
      this.#count--;
      this.#dead++;
      this.#bytes -= tail.size[row] as number;
    });
  }

  /** Marks what the commits have named dead in the blocks; all commits are newer than all blocks, so once at the end is enough. */
  #shadowBlocks(): void {
    const named = this.#named;
    this.#named = [];
    this.#blocks.forEach((block, index) => {
      block.matching(named, (key, row) => {
        if (hasBit(this.#deadBlocks[index], row) || block.vectorId(row) !== (named[key] as FileKey).vector)
          return;
        if (!this.#ownDead[index]) {
          const bits = new Uint8Array((block.count >> 3) + 1);
          const shared = this.#deadBlocks[index];
          if (shared !== undefined) bits.set(shared);
          this.#deadBlocks[index] = bits;
          this.#ownDead[index] = true;
        }
        const bits = this.#deadBlocks[index] as Uint8Array;
        bits[row >> 3] = (bits[row >> 3] as number) | (1 << (row & 7));
        this.#count--;
        this.#bytes -= block.size(row);
      });
    });
  }

  /**
   * The file set after the commits so far, and how many removals of the tail it knows. Removals made before `expiredBefore()`, milliseconds since the
   * Unix epoch, may be forgotten.
   */
  finish(
    partitionNames: readonly string[],
    expiredBefore: () => number,
  ): { files: BlockFileSet; removals: number } {
    this.#shadowBlocks();
    this.#compactTail(expiredBefore);
    const parts: FileParts = {
      blocks: this.#blocks,
      tail: this.#tail,
      tailCount: this.#tail.count,
      deadBlocks: this.#deadBlocks,
      deadTail: this.#deadTail,
      count: this.#count,
      bytes: this.#bytes,
      partitionNames,
    };
    return { files: new BlockFileSet(parts), removals: this.#tail.removalCount };
  }

  /** Rewrites a tail that is mostly dead, so that a state followed for long does not grow with its history. */
  #compactTail(expiredBefore: () => number): void {
    const old = this.#tail;
    if (old.count < COMPACT_FROM || this.#dead === 0) return;
    let live = 0;
    for (let row = 0; row < old.count; row++) if (!hasBit(this.#deadTail, row)) live++;
    if (live * 2 > old.count) return;
    const tail = new Tail(old.partitions);
    const copy = (bytes: Uint8Array, start: number, end: number): Uint8Array => {
      const line = bytes.slice(start, end);
      tail.buffers.push(line);
      return line;
    };
    for (let row = 0; row < old.count; row++) {
      if (hasBit(this.#deadTail, row)) continue;
      const { bytes, start, end } = old.line(row);
      const line = copy(bytes, start, end);
      scanFileLine(line, ADD.length, line.length, this.#line);
      tail.index(tail.push(line, 0, line.length, this.#line));
    }
    const expired = expiredBefore();
    for (let i = 0; i < old.removalCount; i++) {
      const bytes = old.buffers[old.removals[i * 3] as number] as Uint8Array;
      const start = old.removals[i * 3 + 1] as number;
      const end = old.removals[i * 3 + 2] as number;
      if (deletedAt(bytes, start, end) < expired) continue;
      tail.pushRemoval(0, copy(bytes, start, end).length);
    }
    this.#tail = tail;
    this.#deadTail = new Uint8Array((tail.count >> 3) + 1);
  }
}

/** When the line of a removal says that it was made; a line that does not say counts as new. */
function deletedAt(bytes: Uint8Array, start: number, end: number): number {
  const line = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
  const at = line.indexOf(DELETED_AT);
  if (at < 0) return Number.POSITIVE_INFINITY;
  let digits = at + DELETED_AT.length;
  let time = 0;
  for (; line[digits]! >= 0x30 && line[digits]! <= 0x39; digits++) time = 10 * time + line[digits]! - 0x30;
  return digits > at + DELETED_AT.length ? time : Number.POSITIVE_INFINITY;
}

function isPlainCdc(bytes: Uint8Array, start: number, end: number): boolean {
  return bytes[end - 1] === 0x7d && bytes[end - 2] === 0x7d && startsWith(bytes, start, CDC);
}

function startsWith(bytes: Uint8Array, start: number, word: Uint8Array): boolean {
  for (let i = 0; i < word.length; i++) if (bytes[start + i] !== word[i]) return false;
  return true;
}
