import { bulkPays, decodeBulk, isBulk } from '../parquet/bulk.js';
import type { ColumnData } from '../parquet/column/assemble.js';
import { decodeInPart, decodeQuickly, isQuick } from '../parquet/quick.js';
import { type DecodeTask, dataFileError } from '../parquet/read.js';
import type { TaskResult } from '../stage/protocol.js';
import { ownColumns } from './handover.js';

/** The row groups of one file to be decoded. Plain data, fit to be sent to a worker thread. */
export interface DecodeInput {
  readonly file: string;
  readonly tasks: readonly DecodeTask[];
  /** The bytes of the file, where all of them were fetched. */
  readonly whole?: Uint8Array;
}

/** The columns of row groups [from, to) of a unit, one for each node. */
export interface DecodedGroups {
  readonly from: number;
  readonly to: number;
  readonly columns: readonly ColumnData[];
}

export interface DecodeJob {
  readonly input: DecodeInput;
  readonly output: readonly DecodedGroups[];
}

/** Decodes in a worker thread; the columns' memory goes over to the caller. Throws `CORRUPT_DATA_FILE`, naming the file. */
export async function decode(input: DecodeInput): Promise<TaskResult<'decode'>> {
  const output = await decodeWell(input, keep);
  const transfer = new Set<ArrayBuffer>();
  for (const { columns } of output) for (const column of columns) collectBuffers(column, transfer);
  return { output, transfer: [...transfer] };
}

/** Decodes in the thread that asked, where the engine for bulk is not loaded before it pays. Throws `CORRUPT_DATA_FILE`, naming the file. */
export async function decodeHere({ file, tasks, whole }: DecodeInput): Promise<DecodedGroups[]> {
  const isWorth = whole && isBulk(tasks, whole) && bulkPays(whole.length);
  return decodeWell({ file, tasks, whole: isWorth ? whole : undefined }, keep);
}

function keep(groups: DecodedGroups, isLent: boolean): DecodedGroups {
  return isLent ? { ...groups, columns: ownColumns(groups.columns) } : groups;
}

/**
 * Decodes a fetched unit by the quickest engine that gives the same as the exact decoder, and hands its columns over one or more row groups at a time.
 * What is lent is good until `take` returns. Throws `CORRUPT_DATA_FILE`, naming the file.
 */
export async function decodeWell<T>(
  { file, tasks, whole }: DecodeInput,
  take: (groups: DecodedGroups, isLent: boolean) => T,
): Promise<T[]> {
  let taken: T[] = [];
  const takeLent = (columns: readonly ColumnData[], from: number, to: number) =>
    taken.push(take({ from, to, columns }, true));
  if (isQuick(tasks, whole) && decodeQuickly(tasks, takeLent)) return taken;
  taken = [];
  if (whole && isBulk(tasks, whole) && (await decodeBulk(tasks, whole, takeLent))) return taken;
  return tasks.map((task, i) => {
    const { columns, isLent } = named(file, () => decodeInPart(task));
    return take({ from: i, to: i + 1, columns }, isLent);
  });
}

function named<T>(file: string, decode: () => T): T {
  try {
    return decode();
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
