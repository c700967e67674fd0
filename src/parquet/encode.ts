import * as arrow from 'apache-arrow';
import type { WriterPropertiesBuilder } from 'parquet-wasm/node';
import { type ColumnEncoding, chooseEncoding } from './encode-choose.js';
import { joinParts } from './encode-join.js';
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
  const parts: Uint8Array[] = [];
  let rows = 0;
  for await (const batch of batches) {
    for (let start = 0; start < batch.numRows; start += limit) {
      const piece = batch.numRows <= limit ? batch : batch.slice(start, start + limit);
      parts.push(encodeRowGroup(engine, piece.data.children, piece.numRows, schema, options.codec));
    }
    rows += batch.numRows;
  }
  if (parts.length === 0) parts.push(encodeRowGroup(engine, emptyColumns(schema), 0, schema, options.codec));
  return { bytes: joinBytes(parts), rows };
}

/** A Parquet file of one row group (none for no rows), as the engine wrote it; `joinParts` makes it one of ours. The columns are those of `schema`. */
export function encodeRowGroup(
  engine: typeof ParquetWasm,
  columns: readonly arrow.Data[],
  rows: number,
  schema: arrow.Schema,
  codec: Codec = 'snappy',
): Uint8Array {
  const data = arrow.makeData({
    type: new arrow.Struct(schema.fields),
    length: rows,
    nullCount: 0,
    children: [...columns],
  });
  const stream = arrow.RecordBatchStreamWriter.writeAll([new arrow.RecordBatch(schema, data)]).toUint8Array(
    true,
  );
  const table = engine.Table.fromIPCStream(stream);
  return engine.writeParquet(table, properties(engine, columns, schema, codec).build());
}

/** The bytes of several such files as one file. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
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

/** Each setter takes the builder away and gives a new one. */
function properties(
  engine: typeof ParquetWasm,
  columns: readonly arrow.Data[],
  schema: arrow.Schema,
  codec: Codec,
): WriterPropertiesBuilder {
  const codecs = {
    none: engine.Compression.UNCOMPRESSED,
    snappy: engine.Compression.SNAPPY,
    zstd: engine.Compression.ZSTD,
  };
  let builder = new engine.WriterPropertiesBuilder()
    .setCompression(codecs[codec])
    .setMaxRowGroupSize(0xffff_ffff)
    // The engine takes a name for one step of a path, so columns inside of columns can only be set together.
    .setDictionaryEnabled(
      columns.some((data) => data.children.length > 0 && leavesOf(data).some(isDictionary)),
    );
  schema.fields.forEach((field, i) => {
    const data = columns[i]!;
    if (data.children.length > 0) return;
    const encoding: ColumnEncoding = chooseEncoding(data);
    builder = builder.setColumnDictionaryEnabled(field.name, encoding === 'dictionary');
    if (encoding === 'delta')
      builder = builder.setColumnEncoding(field.name, engine.Encoding.DELTA_BINARY_PACKED);
  });
  return builder;
}

function isDictionary(data: arrow.Data): boolean {
  return chooseEncoding(data) === 'dictionary';
}

function leavesOf(data: arrow.Data): arrow.Data[] {
  return data.children.length === 0 ? [data] : data.children.flatMap(leavesOf);
}

function emptyColumns(schema: arrow.Schema): arrow.Data[] {
  return schema.fields.map((field) => arrow.makeBuilder({ type: field.type }).finish().flush());
}
