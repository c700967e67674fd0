import { hasBit } from './bits.js';
import type { AddExtra } from './block.js';
import { type BlockFileSet, tailAdd } from './files.js';
import type { StatsSpan } from './json-statistics.js';
import { Unescaper } from './unescaper.js';

/**
 * The live files of a set column by column, in the order of their ids, without an object or a string a file. Wants `load({ actions: true })`.
 */
export interface LiveColumns {
  readonly count: number;
  paths(each: (bytes: Uint8Array, start: number, end: number) => void): void;
  sizes(each: (value: number) => void): void;
  modificationTimes(each: (value: number) => void): void;
  statistics(each: (span: StatsSpan | undefined) => void): void;
  extras(each: (extra: AddExtra | undefined) => void): void;
}

export function liveColumns(files: BlockFileSet): LiveColumns {
  const { blocks, tail, tailCount, deadBlocks, deadTail } = files.parts;
  const walk = (inBlock: (block: number, row: number) => void, inTail: (row: number) => void): void => {
    blocks.forEach((block, index) => {
      const dead = deadBlocks[index];
      for (let row = 0; row < block.count; row++) if (!hasBit(dead, row)) inBlock(index, row);
    });
    for (let row = 0; row < tailCount; row++) if (!hasBit(deadTail, row)) inTail(row);
  };
  const at = <T>(list: readonly T[], index: number): T => list[index] as T;
  return {
    count: files.count,
    paths(each) {
      const spans = blocks.map((block) => block.pathSpans());
      walk(
        (block, row) => {
          const { values, places } = at(spans, block);
          const place = places === undefined ? row : (places[row] as number);
          const start = values.starts[place] as number;
          each(values.slab, start, start + (values.lengths[place] as number));
        },
        (row) => {
          const start = tail.pathOffset(row);
          each(tail.pathBuffer(row), start, start + (tail.pathLength[row] as number));
        },
      );
    },
    sizes(each) {
      walk(
        (block, row) => each(at(blocks, block).size(row)),
        (row) => each(tail.size[row] as number),
      );
    },
    modificationTimes(each) {
      walk(
        (block, row) => each(at(blocks, block).modificationTime(row)),
        (row) => each(tail.time[row] as number),
      );
    },
    statistics(each) {
      const unescaper = new Unescaper();
      walk(
        (block, row) => each(at(blocks, block).statsSpan(row)),
        (row) => {
          const start = tail.statsStart[row] as number;
          each(
            start < 0
              ? undefined
              : unescaper.resolve(
                  tail.buffers[tail.source[row] as number] as Uint8Array,
                  start,
                  tail.statsEnd[row] as number,
                ),
          );
        },
      );
    },
    extras(each) {
      walk(
        (block, row) => each(at(blocks, block).extra(row)),
        (row) => each(tail.extras.has(row) ? tailAdd(tail, row) : undefined),
      );
    },
  };
}
