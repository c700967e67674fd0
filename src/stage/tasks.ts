import * as arrow from 'apache-arrow';
import { encodeRowGroup, joinBytes } from '../parquet/encode.js';
import { fileSchema, isStored } from '../parquet/encode-schema.js';
import { loadParquetWasm } from '../parquet/wasm.js';
import { serializePartitionValue } from '../schema/partition-value.js';
import type { DataType, StructType } from '../schema/types.js';
import { openChunk, orderChunk, packChunk } from './chunk.js';
import { type Column, concatenate, type Range, type Shape, shapeOf } from './columns.js';
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
  /** Where each group's chunk starts in `target`, and where the last ends. */
  readonly output: { readonly starts: Float64Array };
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
  const engine = await loadParquetWasm();
  const columns = joinSlices(plan, slices, (bytes) => new Uint8Array(bytes));
  const rows = slices.reduce((sum, slice) => sum + slice.rows, 0);
  const schema = fileSchema(plan.file);
  const data = columns.map((column, i) =>
    toArrow(column, plan.types[plan.data[i]!]!, schema.fields[i]!.type),
  );
  const part = encodeRowGroup(engine, data, rows, schema);
  const bytes = joinBytes([part]);
  const statistics = collectStatistics(plan.statistics, columns, part);
  return { output: { bytes, rows, statistics }, transfer: [bytes.buffer as ArrayBuffer] };
}

/** Brings the rows of each group together, one chunk after the other. */
export function pack({ plan, groups, target }: PackTask['input']): TaskResult<'pack'> {
  const shapes = dataShapes(plan);
  const starts = new Float64Array(groups.length + 1);
  groups.forEach((slices, i) => {
    const rows = slices.reduce((sum, slice) => sum + slice.rows, 0);
    const chunk = packChunk(shapes, rangesOf(plan, slices), rows, target, starts[i]!);
    starts[i + 1] = chunk.at + chunk.bytes;
  });
  return { output: { starts } };
}

export function dataShapes(plan: StagePlan): Shape[] {
  return plan.data.map((i) => shapeOf(plan.types[i]!));
}

function joinSlices(
  plan: StagePlan,
  slices: readonly SliceInput[],
  allocate: (bytes: number) => Uint8Array,
): Column[] {
  const ranges = rangesOf(plan, slices);
  return dataShapes(plan).map((shape, i) => {
    const [first] = ranges[i]!;
    const untouched = ranges[i]!.length === 1 && first!.start === 0 && first!.length === first!.column.length;
    return untouched ? first!.column : concatenate(shape, ranges[i]!, allocate);
  });
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

/** The column as an Arrow array on the same memory. Columns of type void inside structs have no place in files. */
function toArrow(column: Column, type: DataType, arrowType: arrow.DataType): arrow.Data {
  const { length, nulls } = column;
  const children = childrenOf(type).flatMap((child, i) =>
    child ? [{ child, column: column.children[i]! }] : [],
  );
  const fields = arrowType.children as arrow.Field[] | null;
  return new arrow.Data(
    arrowType,
    0,
    length,
    nulls,
    [
      column.offsets ?? undefined,
      column.values ? typed(arrowType, column.values) : undefined,
      column.valid ?? undefined,
    ] as never,
    children.map(({ child, column: inner }, i) => toArrow(inner, child, fields![i]!.type)),
  );
}

function childrenOf(type: DataType): (DataType | undefined)[] {
  switch (type.type) {
    case 'struct':
      return type.fields.map((field) => (isStored(field.dataType) ? field.dataType : undefined));
    case 'array':
      return [type.elementType];
    case 'map':
      return [entriesOf(type.keyType, type.valueType)];
    case 'variant':
      return [{ type: 'binary' }, { type: 'binary' }];
    default:
      return [];
  }
}

function entriesOf(key: DataType, value: DataType): StructType {
  const field = (name: string, dataType: DataType) => ({ name, dataType, nullable: true, metadata: {} });
  return { type: 'struct', fields: [field('key', key), field('value', value)] };
}

function typed(type: arrow.DataType, bytes: Uint8Array): ArrayBufferView {
  const View = type.ArrayType as {
    new (buffer: ArrayBufferLike, at: number, length: number): ArrayBufferView;
    BYTES_PER_ELEMENT: number;
  };
  return new View(bytes.buffer, bytes.byteOffset, bytes.byteLength / View.BYTES_PER_ELEMENT);
}
