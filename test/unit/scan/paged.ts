import { RecordBatch, type Schema, Table, tableToIPC } from 'apache-arrow';
import { serializeActions } from '../../../src/log/action-lines.js';
import type { DeletionVector } from '../../../src/log/actions.js';
import { footerOf, structs } from '../../../src/parquet/encode-join.js';
import { type ThriftStruct, writeThrift } from '../../../src/parquet/encode-thrift.js';
import { loadParquetWasm } from '../../../src/parquet/wasm.js';
import { encodeBase85 } from '../../../src/scan/base85.js';
import { serializeRoaring } from '../../../src/scan/roaring-write.js';
import { serializeSchema } from '../../../src/schema/schema-json.js';
import type { StructType } from '../../../src/schema/types.js';
import { loadState } from '../../../src/snapshot/load.js';
import { MemoryStore } from '../../../src/store/memory.js';
import { fakeContext } from '../../support/fake-context.js';

/** Field ids of Parquet's footer (parquet-format, parquet.thrift). */
const GROUPS = 4;
const COLUMNS = 1;
const META = 3;
const ENCODING_STATS = 13;
const ENCODING = 2;
const OFFSET_INDEX = 4;
const COLUMN_INDEX = 6;

export interface PagedOptions {
  /** A page ends with the value that makes it so long, so that columns of other widths have other pages. */
  readonly pageBytes: number;
  readonly rowsPerGroup?: number;
  readonly dictionary?: boolean;
  /** Dictionaries longer than this are given up: later pages do without. */
  readonly dictionaryBytes?: number;
  /** The footer says that no page uses the dictionary. */
  readonly deniesDictionary?: boolean;
  readonly version?: 1 | 2;
  /** Leaves, by their index, that lose the bounds of their pages, or the whole index. */
  readonly withoutBounds?: (leaf: number) => boolean;
  readonly withoutIndex?: (leaf: number) => boolean;
}

/** A Parquet file of several pages, with page indexes. */
export async function pagedFile(
  batch: RecordBatch,
  schema: Schema,
  options: PagedOptions,
): Promise<Uint8Array> {
  const engine = await loadParquetWasm();
  const stream = tableToIPC(new Table(schema, [new RecordBatch(schema, batch.data)]), 'stream');
  const builder = new engine.WriterPropertiesBuilder()
    .setWriteBatchSize(1)
    .setDataPageSizeLimit(options.pageBytes)
    .setDictionaryPageSizeLimit(options.dictionaryBytes ?? 1 << 20)
    .setDictionaryEnabled(options.dictionary === true)
    .setWriterVersion(options.version === 2 ? engine.WriterVersion.V2 : engine.WriterVersion.V1)
    .setMaxRowGroupSize(options.rowsPerGroup ?? 1 << 20)
    .setCompression(engine.Compression.SNAPPY);
  const bytes = engine.writeParquet(engine.Table.fromIPCStream(stream), builder.build());
  return withFooter(bytes, (footer) => {
    for (const group of structs(footer, GROUPS)) {
      structs(group, COLUMNS).forEach((chunk, leaf) => {
        const drop = (id: number) => chunk.delete(id) && chunk.delete(id + 1);
        if (options.withoutBounds?.(leaf) || options.withoutIndex?.(leaf)) drop(COLUMN_INDEX);
        if (options.withoutIndex?.(leaf)) drop(OFFSET_INDEX);
        const meta = chunk.get(META)!.value as ThriftStruct;
        for (const pages of options.deniesDictionary ? structs(meta, ENCODING_STATS) : [])
          pages.get(ENCODING)!.value = 0;
      });
    }
  });
}

/** Where the page indexes of a file begin and end. */
export function indexesOf(bytes: Uint8Array): [start: number, end: number] {
  const starts = structs(footerOf({ size: bytes.length, tail: bytes }), GROUPS).flatMap((group) =>
    structs(group, COLUMNS).map((chunk) => Number(chunk.get(COLUMN_INDEX)!.value)),
  );
  return [Math.min(...starts), bytes.length - 8 - footerBytes(bytes)];
}

function footerBytes(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(bytes.length - 8, true);
}

/** The file with another footer. */
export function withFooter(bytes: Uint8Array, change: (footer: ThriftStruct) => void): Uint8Array {
  const footer = footerOf({ size: bytes.length, tail: bytes });
  change(footer);
  const body = writeThrift(footer);
  const size = Buffer.alloc(4);
  size.writeUInt32LE(body.length);
  return new Uint8Array(
    Buffer.concat([bytes.subarray(0, bytes.length - 8 - footerBytes(bytes)), body, size, bytes.subarray(-4)]),
  );
}

/** A vector of the positions where a flag is 1, inline; undefined for none. */
export function vectorOf(flags: Uint8Array): DeletionVector | undefined {
  const cardinality = flags.reduce((sum, flag) => sum + flag, 0);
  if (cardinality === 0) return undefined;
  const bytes = serializeRoaring(flags);
  const padded = new Uint8Array(Math.ceil(bytes.length / 4) * 4);
  padded.set(bytes);
  return {
    storageType: 'i',
    pathOrInlineDv: encodeBase85(padded),
    sizeInBytes: bytes.length,
    cardinality,
  };
}

/** A table of one file, without statistics in its log. */
export async function tableOfFile(schema: StructType, bytes: Uint8Array, deletionVector?: DeletionVector) {
  const ctx = fakeContext();
  const store = new MemoryStore(ctx);
  await store.put('f', bytes);
  const features = ['deletionVectors', 'timestampNtz'];
  const log = serializeActions([
    {
      protocol: {
        minReaderVersion: 3,
        minWriterVersion: 7,
        readerFeatures: features,
        writerFeatures: features,
      },
    },
    {
      metaData: {
        id: 't',
        format: { provider: 'parquet', options: {} },
        schemaString: serializeSchema(schema),
        partitionColumns: [],
        configuration: {},
      },
    },
    {
      add: {
        path: 'f',
        partitionValues: {},
        size: bytes.length,
        modificationTime: 0,
        dataChange: true,
        ...(deletionVector ? { deletionVector } : {}),
      },
    },
  ]);
  await store.put('_delta_log/00000000000000000000.json', log);
  return { ctx, store, state: await loadState(store, ctx) };
}
