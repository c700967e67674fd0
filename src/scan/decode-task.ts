import { decodeBulk, isBulk } from '../parquet/bulk.js';
import type { ColumnData } from '../parquet/column/assemble.js';
import { type DecodeTask, dataFileError, decodeRowGroup } from '../parquet/read.js';
import type { TaskResult } from '../stage/protocol.js';
import type { FetchedUnit } from './open-file.js';

/** The row groups of one file to be decoded by a worker thread. */
export interface DecodeJob {
  readonly input: {
    readonly file: string;
    readonly tasks: readonly DecodeTask[];
    /** The bytes of the file, where all of them were fetched. */
    readonly whole?: Uint8Array;
  };
  /** For each row group a column for each node. */
  readonly output: readonly (readonly ColumnData[])[];
}

/** Decodes in a worker thread; the columns' memory goes over to the caller. Throws `CORRUPT_DATA_FILE`, naming the file. */
export async function decode(input: DecodeJob['input']): Promise<TaskResult<'decode'>> {
  const output = await decodeWell(input);
  const transfer = new Set<ArrayBuffer>();
  for (const columns of output) for (const column of columns) collectBuffers(column, transfer);
  return { output, transfer: [...transfer] };
}

/** Decodes a fetched unit, in bulk where that gives the same. */
export function decodeUnit({ unit, tasks, whole }: FetchedUnit): Promise<ColumnData[][]> {
  return decodeWell({ file: unit.open.file.path, tasks, whole });
}

async function decodeWell({ file, tasks, whole }: DecodeJob['input']): Promise<ColumnData[][]> {
  const bulk = whole && isBulk(tasks, whole) ? await decodeBulk(tasks, whole) : undefined;
  return bulk ?? decodeTasks(file, tasks);
}

/** Decodes in this thread, exactly. Throws `CORRUPT_DATA_FILE`, naming the file. */
export function decodeTasks(file: string, tasks: readonly DecodeTask[]): ColumnData[][] {
  try {
    return tasks.map(decodeRowGroup);
  } catch (error) {
    throw dataFileError(error, file);
  }
}

/** Gathers the memory of a column. */
export function collectBuffers(
  { validity, values, offsets, children }: ColumnData,
  into: Set<ArrayBuffer>,
): void {
  for (const part of [validity, values, offsets]) if (part) into.add(part.buffer as ArrayBuffer);
  for (const child of children ?? []) collectBuffers(child, into);
}

/**
 * The memory of a job's input that can be handed over instead of copied: buffers that hold nothing but what was fetched for it. Small reads may stand in
 * memory shared with others and are left to be copied.
 */
export function ownedBuffers(tasks: readonly DecodeTask[]): ArrayBuffer[] {
  const used = new Map<ArrayBuffer, number>();
  for (const { chunks } of tasks) {
    for (const { bytes } of chunks) {
      const buffer = bytes.buffer as ArrayBuffer;
      used.set(buffer, (used.get(buffer) ?? 0) + bytes.length);
    }
  }
  return [...used]
    .filter(([buffer, bytes]) => bytes >= LEAST_OWNED && bytes * 2 > buffer.byteLength)
    .map(([buffer]) => buffer);
}

/** Runtimes pool buffers up to some kilobytes. */
const LEAST_OWNED = 64 * 1024;
