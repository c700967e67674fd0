import { type RecordBatch, tableFromIPC } from 'apache-arrow';
import { readParquet } from 'parquet-wasm/node';
import { decodePath } from '../../src/schema/path.js';
import { type Row, rowsFromBatch } from '../../src/schema/rows-out.js';
import type { StructType } from '../../src/schema/types.js';
import type { StagedFile } from '../../src/stage/staged.js';
import type { Store } from '../../src/store/store.js';

/** The rows of a Parquet file, by the engine's own reader. */
export function parquetRows(bytes: Uint8Array, schema: StructType): Row[] {
  const batches = tableFromIPC(readParquet(bytes).intoIPCStream()).batches as RecordBatch[];
  return batches.flatMap((batch) => rowsFromBatch(batch, schema, { timestamp: 'micros' }));
}

/** The rows of a staged file, without its partition columns. */
export async function stagedRows(
  store: Store,
  file: StagedFile,
  schema: StructType,
  partitionColumns: readonly string[] = [],
): Promise<Row[]> {
  const fields = schema.fields.filter((field) => !partitionColumns.includes(field.name));
  return parquetRows(await store.get(decodePath(file.path)), { type: 'struct', fields });
}
