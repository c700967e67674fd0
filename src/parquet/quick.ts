import type { TakeColumns } from './bulk.js';
import type { ColumnData } from './column/assemble.js';
import { leavesOfAll } from './column/read-tree.js';
import { CODEC } from './flat/codec.js';
import { decodeByKernel, isForKernel } from './kernel/decode.js';
import { kernelMemory } from './kernel/engine.js';
import { type DecodeTask, decodeRowGroup } from './read.js';

/** Row groups up to so many bytes together are decoded as one. */
const LARGEST_AT_ONCE = 16 << 20;
/** To make the kernel takes as long as it saves on this many bytes. */
const OPEN_AFTER = 2 << 20;
let seen = 0;

/** Codecs that are undone in JavaScript here, and quicker in bulk. */
const QUICKER_IN_BULK: readonly number[] = [CODEC.zstd, CODEC.lz4Raw];

/** True where the kernel decodes all columns of row groups of one file, and no engine is quicker: that in bulk needs the `whole` file. */
export function isQuick(tasks: readonly DecodeTask[], whole: Uint8Array | undefined): boolean {
  if (!tasks.every((task) => task.nodes.every((node) => isForKernel(node, task)))) return false;
  const isSlow = ({ chunks }: DecodeTask) => chunks.some(({ meta }) => QUICKER_IN_BULK.includes(meta.codec));
  if (whole && tasks.some(isSlow)) return false;
  return tasks.length > 0 && pays(tasks);
}

/**
 * Decodes row groups by the kernel, several at once where they are not too large. False where it cannot: what was taken is then to be forgotten. Columns are
 * good until `take` returns.
 */
export function decodeQuickly(tasks: readonly DecodeTask[], take: TakeColumns): boolean {
  for (let from = 0; from < tasks.length; ) {
    let bytes = bytesOf(tasks[from]!);
    let to = from + 1;
    for (; to < tasks.length && tasks[to]!.group === tasks[to - 1]!.group + 1; to++) {
      bytes += bytesOf(tasks[to]!);
      if (bytes > LARGEST_AT_ONCE) break;
    }
    const columns = decodeByKernel(tasks.slice(from, to), tasks[from]!.nodes);
    if (columns === undefined) return false;
    take(columns, from, to);
    from = to;
  }
  return true;
}

/** Decodes a row group exactly, by the kernel as far as it can. What is lent is good until the next decoding in this thread. Throws `FlatFault`. */
export function decodeInPart(task: DecodeTask): { columns: readonly ColumnData[]; isLent: boolean } {
  const { nodes, chunks } = task;
  const quick = nodes.filter((node) => isForKernel(node, task));
  const lent = quick.length > 0 && pays([task]) ? decodeByKernel([task], quick) : undefined;
  if (lent === undefined) return { columns: decodeRowGroup(task), isLent: false };
  const rest = nodes.filter((node) => !quick.includes(node));
  const leaves = leavesOfAll(rest);
  const own = decodeRowGroup({
    ...task,
    nodes: rest,
    chunks: chunks.filter(({ leaf }) => leaves.has(leaf.index)),
  });
  const columns = nodes.map((node) => {
    const place = quick.indexOf(node);
    return place < 0 ? own[rest.indexOf(node)]! : lent[place]!;
  });
  return { columns, isLent: true };
}

function pays(tasks: readonly DecodeTask[]): boolean {
  if (kernelMemory() > 0) return true;
  for (const task of tasks) seen += bytesOf(task);
  return seen > OPEN_AFTER;
}

function bytesOf({ chunks }: DecodeTask): number {
  return chunks.reduce((sum, { bytes }) => sum + bytes.length, 0);
}
