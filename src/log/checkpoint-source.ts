import { isTableError, TableError } from '../errors.js';
import { CODEC } from '../parquet/flat/codec.js';
import type { FlatColumn } from '../parquet/flat/column.js';
import { ENCODING } from '../parquet/flat/encoding.js';
import { corrupt, FlatFault } from '../parquet/flat/fault.js';
import type { ChunkMeta, Footer, Leaf } from '../parquet/flat/footer.js';
import { bytesSource, type FlatSource, readFlatColumns, readFooter } from '../parquet/flat/read.js';
import type { RequestOptions, Store } from '../store/store.js';

/** A Parquet file of the log, open for reading columns by range. Faults come as `CORRUPT_LOG` with the file's name. */
export interface FlatFile {
  readonly key: string;
  readonly footer: Footer;
  /** Dense columns of one row group, in the order of `leaves`. */
  columns(leaves: readonly Leaf[], rowGroup: number): Promise<FlatColumn[]>;
}

/** Footers of many row groups and columns pass 64 kB, and a second round trip costs more than the bytes. */
const TAIL = 256 * 1024;
/** Files up to this are fetched whole with the footer: another round trip costs more than the bytes. */
const WHOLE = 512 * 1024;

/**
 * Opens a Parquet file of the log by one request for its tail. Files that need what the flat decoder lacks are read whole and written again, in memory, by the
 * general engine in the plainest form. Throws `FILE_NOT_FOUND`, `CORRUPT_LOG`, `LIMIT_EXCEEDED`, and what the store throws.
 */
export async function openFlatFile(
  store: Store,
  key: string,
  size: number | undefined,
  options?: RequestOptions,
): Promise<FlatFile> {
  return named(store, key, async () => {
    const tail = await store.getTail(
      key,
      size !== undefined && size <= WHOLE ? Math.max(size, 8) : TAIL,
      options,
    );
    let source = storeSource(store, key, tail);
    let footer = await readFooter(source).catch(unlessUnsupported);
    const rewrite = async (): Promise<Footer> => {
      const { rewritePlain } = await import('../parquet/rewrite-plain.js');
      const whole = await source.read(0, source.size);
      source = bytesSource(
        await rewritePlain(whole).catch((error: unknown) => {
          throw corrupt(`no engine can read it (${String(error)})`);
        }),
      );
      return readFooter(source);
    };
    if (footer === undefined || !footer.rowGroups.every((group) => group.chunks.every(isKnown))) {
      footer = await rewrite();
    }
    const opened = footer;
    return {
      key,
      footer: opened,
      columns: (leaves, rowGroup) =>
        named(store, key, async () => {
          const [columns] = await readFlatColumns(source, opened, leaves, {
            rowGroups: [rowGroup],
            layout: 'dense',
          });
          return columns ?? [];
        }),
    };
  });
}

const KNOWN_CODECS: ReadonlySet<number> = new Set([
  CODEC.uncompressed,
  CODEC.snappy,
  CODEC.gzip,
  CODEC.zstd,
  CODEC.lz4Raw,
]);
const UNKNOWN_ENCODINGS = (1 << ENCODING.deltaByteArray) | (1 << ENCODING.byteStreamSplit);

function isKnown(chunk: ChunkMeta): boolean {
  return KNOWN_CODECS.has(chunk.codec) && (chunk.encodings & UNKNOWN_ENCODINGS) === 0;
}

function unlessUnsupported(error: unknown): undefined {
  if (error instanceof FlatFault && error.reason === 'unsupported') return undefined;
  throw error;
}

function storeSource(
  store: Store,
  key: string,
  tail: { readonly bytes: Uint8Array; readonly size: number },
): FlatSource {
  const tailStart = tail.size - tail.bytes.length;
  return {
    size: tail.size,
    async read(start, end) {
      if (start >= tailStart) return tail.bytes.subarray(start - tailStart, end - tailStart);
      return store.getRange(key, start, end);
    },
  };
}

async function named<T>(store: Store, key: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof FlatFault) {
      const limit = error.reason === 'limit';
      throw new TableError(
        limit ? 'LIMIT_EXCEEDED' : 'CORRUPT_LOG',
        `${key} of ${store.url} cannot be read: ${error.message}.`,
        { url: store.url, file: key },
        error,
      );
    }
    if (isTableError(error, 'NOT_FOUND')) {
      throw new TableError(
        'FILE_NOT_FOUND',
        `${key} of ${store.url} is missing, and the log needs it.`,
        { url: store.url, file: key },
        error,
      );
    }
    throw error;
  }
}
