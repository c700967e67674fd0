import type { DeletionVector } from '../log/actions.js';
import type { TableContext } from '../runtime/table-context.js';
import { encodeBase85 } from '../scan/base85.js';
import { crc32 } from '../scan/crc32.js';
import { readDeletionVector } from '../scan/deletion-vector.js';
import { Locator } from '../scan/location.js';
import { serializeRoaring } from '../scan/roaring-write.js';
import type { MarkedFile } from './effects.js';

const FILE_VERSION = 1;

export interface WrittenVectors {
  /** Parallel to the files given. */
  readonly vectors: readonly DeletionVector[];
  /** The object that holds them. */
  readonly path: string;
}

/**
 * Writes one file with the new deletion vector of each data file: the rows it had lost before and those marked now (protocol: Deletion Vector File Storage
 * Format). `rowsOf` gives the physical rows of a file. One put; a read for each file that has a vector already.
 */
export async function writeVectors(
  table: TableContext,
  marked: readonly MarkedFile[],
  rowsOf: (file: MarkedFile) => number,
  signal?: AbortSignal,
): Promise<WrittenVectors> {
  const locator = new Locator(table.store, table.ctx);
  const uuid = table.ctx.ids.uuid();
  const name = encodeBase85(Uint8Array.from(Buffer.from(uuid.replaceAll('-', ''), 'hex')));
  const path = `deletion_vector_${uuid}.bin`;
  const parts: Uint8Array[] = [Uint8Array.of(FILE_VERSION)];
  const vectors: DeletionVector[] = [];
  let offset = 1;
  for (const each of marked) {
    const rows = rowsOf(each);
    const flags = new Uint8Array(rows);
    const { deletionVector, path: dataFile } = each.file;
    let cardinality = each.positions.length;
    if (deletionVector) {
      const earlier = await readDeletionVector(locator, deletionVector, dataFile, { rows, signal });
      cardinality += earlier.mark(0, flags, 1);
    }
    for (const position of each.positions) flags[position] = 1;
    const data = serializeRoaring(flags);
    parts.push(bigEndian(data.length), data, bigEndian(crc32(data)));
    vectors.push({ storageType: 'u', pathOrInlineDv: name, offset, sizeInBytes: data.length, cardinality });
    offset += data.length + 8;
  }
  await table.store.put(path, new Uint8Array(Buffer.concat(parts)), { signal });
  return { vectors, path };
}

function bigEndian(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value);
  return bytes;
}
