import type * as arrow from 'apache-arrow';
import { encodeRowGroup } from '../parquet/encode.js';
import {
  type Column,
  concatenate,
  holdsVoid,
  type Range,
  type Shape,
  shapeOf,
  withoutVoid,
} from '../parquet/encode-columns.js';
import { fileSchema } from '../parquet/encode-schema.js';
import { encodeSmall, isSmall } from '../parquet/encode-small.js';
import { loadParquetWasm } from '../parquet/wasm.js';
import { serializePartitionValue } from '../schema/partition-value.js';

import { measureChunk, openChunk, orderChunk, packChunk } from './chunk.js';
import { orderByCode, partitionRows } from './partition.js';
import type { StagePlan } from './plan.js';
import type { TaskResult } from './protocol.js';
import { type ColumnStatistics, collectStatistics } from './statistics.js';

/** Rows [start, start + rows) of a chunk. A whole chunk has every column of the table, any other those that stand in files. */
export interface SliceInput {
  readonly memory: ArrayBufferLike;
  readonly at: number;
  readonly whole: boolean;
  readonly start: number;
  readonly rows: number;
}

export interface SplitTask {
  readonly input: {
    readonly plan: StagePlan;
    readonly memory: ArrayBufferLike;
    readonly rows: number;
    readonly target: ArrayBufferLike;
  };
  /** `bytes` is 0 when the rows are of one partition: then the chunk stays as it was. */
  readonly output: {
    readonly groups: readonly (readonly (string | null)[])[];
    readonly starts: Int32Array;
    readonly bytes: number;
  };
}

export interface EncodeTask {
  readonly input: { readonly plan: StagePlan; readonly slices: readonly SliceInput[] };
  /** A whole Parquet file of one row group. */
  readonly output: {
    readonly bytes: Uint8Array;
    readonly rows: number;
    readonly statistics: readonly ColumnStatistics[];
  };
}

export interface PackTask {
  readonly input: {
    readonly plan: StagePlan;
    readonly groups: readonly (readonly SliceInput[])[];
    readonly target: ArrayBufferLike;
  };
  /** Where the chunk of each group that had room starts in `target`, and where the last ends. */
  readonly output: { readonly starts: readonly number[] };
}

/** Sorts the rows of a chunk by partition into `target`, without the partition columns. */
export function split({ plan, memory, rows, target }: SplitTask['input']): TaskResult<'split'> {
  const columns = openChunk(plan.types.map(shapeOf), memory, 0);
  const types = plan.partition.map((i) => plan.types[i]!);
  const { codes, groups } = partitionRows(
    plan.partition.map((i) => columns[i]!),
    types,
    rows,
  );
  const raws = groups.map((values) => values.map((value, i) => serializePartitionValue(types[i]!, value)));
  if (groups.length <= 1) return { output: { groups: raws, starts: Int32Array.of(0, rows), bytes: 0 } };
  const { order, starts } = orderByCode(codes, groups.length);
  const { bytes } = orderChunk(
    plan.data.map((i) => columns[i]!),
    order,
    target,
    0,
  );
  return { output: { groups: raws, starts, bytes } };
}

/** Rows of one partition as a row group of Parquet. */
export async function encode({ plan, slices }: EncodeTask['input']): Promise<TaskResult<'encode'>> {
  const rows = slices.reduce((sum, slice) => sum + slice.rows, 0);
  const ranges = storedRanges(plan, slices);
  const part = isSmall(plan.file, rows)
    ? await encodeSmall(plan.file, ranges.map(joined), rows)
    : encodeRowGroup(await loadParquetWasm(), schemaOf(plan), ranges, rows);
  const { bytes } = part;
  const statistics = collectStatistics(plan.statistics, part);
  return { output: { bytes, rows, statistics }, transfer: [bytes.buffer as ArrayBuffer] };
}

function joined(ranges: readonly Range[]): Column {
  const shape = ranges[0]!.column.shape;
  return concatenate(shape, ranges, (bytes) => new Uint8Array(bytes));
}

let lastSchema: { readonly id: number; readonly schema: arrow.Schema } | undefined;

function schemaOf({ id, file }: StagePlan): arrow.Schema {
  if (lastSchema?.id !== id) lastSchema = { id, schema: fileSchema(file) };
  return lastSchema.schema;
}

/** Brings the rows of each group together, one chunk after the other, as far as the target reaches. */
export function pack({ plan, groups, target }: PackTask['input']): TaskResult<'pack'> {
  const shapes = dataShapes(plan);
  const starts = [0];
  for (const slices of groups) {
    const at = starts.at(-1)!;
    const ranges = rangesOf(plan, slices);
    if (at + measureChunk(shapes, ranges) > target.byteLength) break;
    const rows = slices.reduce((sum, slice) => sum + slice.rows, 0);
    starts.push(at + packChunk(shapes, ranges, rows, target, at).bytes);
  }
  return { output: { starts } };
}

export function dataShapes(plan: StagePlan): Shape[] {
  return plan.data.map((i) => shapeOf(plan.types[i]!));
}

/** For each column that stands in files, its ranges of rows. */
function rangesOf(plan: StagePlan, slices: readonly SliceInput[]): Range[][] {
  const all = plan.types.map(shapeOf);
  const shapes = dataShapes(plan);
  const open = (slice: SliceInput): Column[] => {
    const columns = openChunk(slice.whole ? all : shapes, slice.memory, slice.at);
    return slice.whole ? plan.data.map((i) => columns[i]!) : columns;
  };
  const sources = slices.map(open);
  return shapes.map((_, i) =>
    slices.map(({ start, rows }, slice) => ({ column: sources[slice]![i]!, start, length: rows })),
  );
}

/** The ranges without columns of type void inside of structs, which have no place in files. */
function storedRanges(plan: StagePlan, slices: readonly SliceInput[]): Range[][] {
  const shapes = dataShapes(plan);
  return rangesOf(plan, slices).map((ranges, i) => {
    if (!holdsVoid(shapes[i]!)) return ranges;
    return ranges.map((range) => ({ ...range, column: withoutVoid(range.column)! }));
  });
}
