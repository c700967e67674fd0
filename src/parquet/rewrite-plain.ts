import { loadParquetWasm } from './wasm.js';

/**
 * Reads a whole Parquet file with the general engine and writes it again in the plainest form: one row group, uncompressed, no dictionaries. For small files with
 * codecs and encodings that the flat decoder does not have. Throws what the engine throws for files that are not sound.
 */
export async function rewritePlain(bytes: Uint8Array): Promise<Uint8Array> {
  const { Compression, readParquet, WriterPropertiesBuilder, writeParquet } = await loadParquetWasm();
  const table = readParquet(bytes);
  const properties = new WriterPropertiesBuilder()
    .setCompression(Compression.UNCOMPRESSED)
    .setDictionaryEnabled(false)
    .setMaxRowGroupSize(1 << 26)
    .build();
  return writeParquet(table, properties);
}
