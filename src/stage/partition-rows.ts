import type { Part } from './files.js';
import type { Slice } from './memory.js';

/** Rows in the spill file. */
export interface Piece {
  readonly at: number;
  readonly bytes: number;
  readonly rows: number;
}

/** What one partition has gathered so far: its oldest rows in `parts`, then `pieces`, then `slices`. */
export interface Partition {
  /** Its place among the partitions of the write, by first appearance. */
  readonly index: number;
  readonly raws: readonly (string | null)[];
  /** In memory. */
  slices: Slice[];
  /** About what the slices take. */
  bytes: number;
  pieces: Piece[];
  /** Encoded row groups of the file that is being filled. */
  parts: Part[];
  partBytes: number;
  /** Resolves when what was sent to be encoded has come back, in order. */
  encoded: Promise<void>;
}

export function newPartition(index: number, raws: readonly (string | null)[]): Partition {
  return {
    index,
    raws,
    slices: [],
    bytes: 0,
    pieces: [],
    parts: [],
    partBytes: 0,
    encoded: Promise.resolve(),
  };
}
