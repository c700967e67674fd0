import type * as arrow from 'apache-arrow';
import type { WriterPropertiesBuilder } from 'parquet-wasm/node';
import { footerBounds, hasNaN, type TextBounds } from './encode-bounds.js';
import { type ColumnEncoding, chooseEncoding } from './encode-choose.js';
import { type Column, columnOf, type Range, type Shape, shapeOfArrow } from './encode-columns.js';
import { schemaMessage, writeIpc } from './encode-ipc.js';
import { joinParts, type PartStatistics } from './encode-join.js';
import { firstRowsOf, textPages } from './encode-pages.js';
import { loadParquetWasm, type ParquetWasm } from './wasm.js';

export type Codec = 'none' | 'snappy' | 'zstd';

export interface EncodeOptions {
  /** Default `snappy`. */
  readonly codec?: Codec;
  /** Rows a row group has at most; default 1,048,576. Every batch begins a row group of its own. */
  readonly rowGroupRows?: number;
}

export interface EncodedParquet {
  readonly bytes: Uint8Array;
  readonly rows: number;
}

/** What the files say wrote them. */
export const CREATED_BY = 'Intervale';

const ROW_GROUP_ROWS = 1 << 20;

/** `Type.Float` and `Type.Utf8` of the Arrow format. */
const FLOAT = 3;
const UTF8 = 5;

/**
 * One Parquet file of Arrow record batches, in any thread. The schema says names, nullability (a field that is not nullable is REQUIRED) and, by the
 * field metadata `PARQUET:field_id`, field ids; `fileSchema` makes it from a Delta schema. Each batch, cut to `rowGroupRows`, is encoded alone, so
 * that the engine's memory is bounded by a batch; pages carry statistics and indexes. No batches, or none with rows: a file of no rows.
 */
export async function encodeParquet(
  batches: Iterable<arrow.RecordBatch> | AsyncIterable<arrow.RecordBatch>,
  schema: arrow.Schema,
  options: EncodeOptions = {},
): Promise<EncodedParquet> {
  const engine = await loadParquetWasm();
  const limit = options.rowGroupRows ?? ROW_GROUP_ROWS;
  const { shapes } = encodeSchema(schema);
  const parts: Uint8Array[] = [];
  let rows = 0;
  for await (const batch of batches) {
    const columns = shapes.map((shape, i) => columnOf(batch.data.children[i]!, shape));
    for (let start = 0; start < batch.numRows; start += limit) {
      const length = Math.min(limit, batch.numRows - start);
      const ranges = columns.map((column) => [{ column, start, length }]);
      parts.push(encodeRowGroup(engine, schema, ranges, length, options.codec).bytes);
    }
    rows += batch.numRows;
  }
  if (parts.length === 0)
    parts.push(
      encodeRowGroup(
        engine,
        schema,
        shapes.map(() => []),
        0,
        options.codec,
      ).bytes,
    );
  return { bytes: joinBytes(parts), rows };
}

/** A Parquet file of one row group (none for no rows). */
export interface EncodedRowGroup {
  readonly bytes: Uint8Array;
  /** For each field of type string at the root: its bounds, which the engine takes longer to find. */
  readonly texts: readonly (TextBounds | undefined)[];
  /** The rows as columns, in memory of this thread that the next row group overwrites. */
  readonly columns: readonly Column[];
}

/** Encodes ranges of rows, one list for each field of the schema, one behind the other. */
export function encodeRowGroup(
  engine: typeof ParquetWasm,
  schema: arrow.Schema,
  ranges: readonly (readonly Range[])[],
  rows: number,
  codec: Codec = 'snappy',
): EncodedRowGroup {
  const { head, shapes, leaves } = encodeSchema(schema);
  const { bytes: stream, columns } = writeIpc(head, shapes, ranges, rows);
  const table = engine.Table.fromIPCStream(stream);
  const bytes = engine.writeParquet(table, properties(engine, columns, schema, codec).build());
  const firstRows = firstRowsOf(bytes);
  const pages = columns.map((column, i) =>
    isText(schema.fields[i]!) ? textPages(column, firstRows[leaves[i]!] ?? [0]) : undefined,
  );
  const texts = pages.map((page) => page?.bounds);
  const statistics = columns.flatMap((column, i): PartStatistics[] => {
    if (column.shape.kind !== 'bytes') return [];
    const bounds = texts[i] && footerBounds(texts[i]);
    return [{ leaf: leaves[i]!, nulls: column.nulls, bounds, columnIndex: pages[i]?.index }];
  });
  const unbounded = columns.flatMap((column, i) =>
    leavesIn(column, schema.fields[i]!.type).flatMap((leaf, at) => (holdsNaN(leaf) ? [leaves[i]! + at] : [])),
  );
  return { bytes: joinPart(bytes, statistics, unbounded), columns, texts };
}

/** The bytes of several such files as one file. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  if (parts.length === 1) return parts[0]!;
  const joined = joinParts(
    parts.map((bytes) => ({ size: bytes.length, tail: bytes })),
    CREATED_BY,
  );
  const all = new Uint8Array(joined.size);
  all.set(joined.head);
  let at = joined.head.length;
  joined.pages.forEach(({ start, end }, i) => {
    all.set(parts[i]!.subarray(start, end), at);
    at += end - start;
  });
  all.set(joined.tail, at);
  return all;
}

/** What the engine wrote as a file of ours, in place where there is room. */
function joinPart(
  bytes: Uint8Array,
  bounds: readonly PartStatistics[],
  unbounded: readonly number[],
): Uint8Array {
  const joined = joinParts([{ size: bytes.length, tail: bytes, bounds, unbounded }], CREATED_BY);
  const { end } = joined.pages[0]!;
  const file = joined.size <= bytes.length ? bytes.subarray(0, joined.size) : new Uint8Array(joined.size);
  if (file.length > bytes.length) file.set(bytes.subarray(0, end));
  file.set(joined.tail, end);
  return file;
}

interface EncodeSchema {
  /** The message that begins every stream. */
  readonly head: Uint8Array;
  readonly shapes: readonly Shape[];
  /** For each field the first of its Parquet leaves. */
  readonly leaves: readonly number[];
}

const schemas = new WeakMap<arrow.Schema, EncodeSchema>();

function encodeSchema(schema: arrow.Schema): EncodeSchema {
  let made = schemas.get(schema);
  if (!made) {
    const shapes = schema.fields.map((field) => shapeOfArrow(field.type));
    let next = 0;
    const leaves = shapes.map((shape) => {
      next += leafCount(shape);
      return next - leafCount(shape);
    });
    made = { head: schemaMessage(schema), shapes, leaves };
    schemas.set(schema, made);
  }
  return made;
}

/** Each setter takes the builder away and gives a new one. */
function properties(
  engine: typeof ParquetWasm,
  columns: readonly Column[],
  schema: arrow.Schema,
  codec: Codec,
): WriterPropertiesBuilder {
  const codecs = {
    none: engine.Compression.UNCOMPRESSED,
    snappy: engine.Compression.SNAPPY,
    zstd: engine.Compression.ZSTD,
  };
  const inner = schema.fields.flatMap((field, i) =>
    columns[i]!.children.length > 0 ? leavesIn(columns[i]!, field.type) : [],
  );
  let builder = new engine.WriterPropertiesBuilder()
    .setCompression(codecs[codec])
    .setMaxRowGroupSize(0xffff_ffff)
    // The engine takes a name for one step of a path, so columns inside of columns can only be set together.
    .setDictionaryEnabled(inner.some(([column, type]) => chooseEncoding(column, type) === 'dictionary'));
  schema.fields.forEach((field, i) => {
    const column = columns[i]!;
    if (column.children.length > 0) return;
    if (column.shape.kind === 'bytes') {
      builder = builder.setColumnStatisticsEnabled(field.name, engine.EnabledStatistics.None);
    }
    const encoding: ColumnEncoding = chooseEncoding(column, field.type);
    builder = builder.setColumnDictionaryEnabled(field.name, encoding === 'dictionary');
    if (encoding === 'delta') {
      builder = builder.setColumnEncoding(field.name, engine.Encoding.DELTA_BINARY_PACKED);
    }
  });
  return builder;
}

function isText(field: arrow.Field): boolean {
  return (field.type.typeId as number) === UTF8;
}

type TypedLeaf = readonly [column: Column, type: arrow.DataType];

function holdsNaN([column, type]: TypedLeaf): boolean {
  const { shape } = column;
  return (type.typeId as number) === FLOAT && hasNaN(column, shape.kind === 'fixed' && shape.width === 8);
}

function leafCount(shape: Shape): number {
  return 'children' in shape ? shape.children.reduce((sum, child) => sum + leafCount(child), 0) : 1;
}

/** The leaves at and below a column, in the order of the file. */
function leavesIn(column: Column, type: arrow.DataType): TypedLeaf[] {
  if (column.children.length === 0) return [[column, type]];
  const fields = type.children as arrow.Field[];
  return column.children.flatMap((child, i) => leavesIn(child, fields[i]!.type));
}
