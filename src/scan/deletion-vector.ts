import { isTableError, TableError } from '../errors.js';
import type { DeletionVector } from '../log/actions.js';
import { missingAs } from '../parquet/source.js';
import { encodePath } from '../schema/path.js';
import { decodeBase85 } from './base85.js';
import { crc32 } from './crc32.js';
import type { Location, Locator } from './location.js';
import { RoaringBitmap } from './roaring.js';

const UUID_LENGTH = 20;
const FILE_VERSION = 1;
/** From this offset on the version byte at the start of the file is not fetched along. */
const NEAR_START = 64 * 1024;
/** Nothing that a file of 2^32 rows can need is larger. */
const MAX_BYTES = 2 ** 30;

/** Tells deletion vectors apart (protocol: Deletion Vectors, derived fields). */
export function deletionVectorId(vector: DeletionVector): string {
  const id = `${vector.storageType}${vector.pathOrInlineDv}`;
  return vector.offset === undefined || vector.offset === null ? id : `${id}@${vector.offset}`;
}

/** The path of the file that holds a vector, as a URI reference like `add.path`; undefined for an inline one. Throws `CORRUPT_LOG`. */
export function deletionVectorPath(vector: DeletionVector): string | undefined {
  if (vector.storageType === 'i') return undefined;
  if (vector.storageType === 'p') return vector.pathOrInlineDv;
  const text = vector.pathOrInlineDv;
  const prefix = text.slice(0, -UUID_LENGTH);
  let bytes: Uint8Array;
  try {
    bytes = decodeBase85(text.slice(-UUID_LENGTH));
    if (bytes.length !== 16) throw new RangeError('a UUID of another length');
  } catch (error) {
    throw new TableError(
      'CORRUPT_LOG',
      `The log names a deletion vector by no valid UUID: ${text}.`,
      { vector },
      error,
    );
  }
  const hex = Buffer.from(bytes).toString('hex');
  const uuid = hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  return encodePath(`${prefix === '' ? '' : `${prefix}/`}deletion_vector_${uuid}.bin`);
}

/**
 * Fetches and checks a deletion vector in at most one request: size, checksum, form and cardinality. `rows` is the number of rows of its data file, where
 * known. Throws `CORRUPT_DATA_FILE`, naming the data file, where anything disagrees, `FILE_NOT_FOUND` where its file is missing.
 */
export async function readDeletionVector(
  locator: Locator,
  vector: DeletionVector,
  dataFile: string,
  options: { readonly rows?: number; readonly signal?: AbortSignal } = {},
): Promise<RoaringBitmap> {
  const { rows } = options;
  if (rows !== undefined && vector.cardinality > rows) {
    throw broken(dataFile, `it deletes ${vector.cardinality} rows, and the file has ${rows}`);
  }
  if (vector.sizeInBytes > MAX_BYTES) throw broken(dataFile, `it claims ${vector.sizeInBytes} bytes`);
  try {
    const bytes =
      vector.storageType === 'i' ? inlineBytes(vector) : await storedBytes(locator, vector, options.signal);
    const bitmap = RoaringBitmap.parse(bytes);
    if (bitmap.cardinality !== vector.cardinality) {
      throw new RangeError(`it holds ${bitmap.cardinality} rows, the log says ${vector.cardinality}`);
    }
    assertWithin(bitmap, rows, dataFile);
    return bitmap;
  } catch (error) {
    if (error instanceof RangeError) throw broken(dataFile, error.message, error);
    throw error;
  }
}

/** Refuses a vector that deletes rows which its file does not have. */
export function assertWithin(bitmap: RoaringBitmap, rows: number | undefined, dataFile: string): void {
  if (rows === undefined || bitmap.end <= rows) return;
  throw broken(dataFile, `it deletes row ${bitmap.end - 1}, and the file has ${rows} rows`);
}

function inlineBytes(vector: DeletionVector): Uint8Array {
  const bytes = decodeBase85(vector.pathOrInlineDv);
  // The text stands for whole groups of four bytes.
  if (bytes.length < vector.sizeInBytes || bytes.length - vector.sizeInBytes > 3) {
    throw new RangeError(`it has ${bytes.length} bytes, the log says ${vector.sizeInBytes}`);
  }
  return bytes.subarray(0, vector.sizeInBytes);
}

async function storedBytes(
  locator: Locator,
  vector: DeletionVector,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  const offset = vector.offset ?? 0;
  const place = locator.locate(deletionVectorPath(vector)!);
  const start = offset <= NEAR_START ? 0 : offset;
  const end = offset + 4 + vector.sizeInBytes + 4;
  const bytes = await fetchRange(place, start, end, signal);
  if (bytes.length < end - start) throw new RangeError('its file is too short');
  if (start === 0 && offset > 0 && bytes[0] !== FILE_VERSION) {
    throw new RangeError(`its file has the format version ${bytes[0]}, known is ${FILE_VERSION}`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset + offset - start, 4 + vector.sizeInBytes + 4);
  const size = view.getUint32(0);
  if (size !== vector.sizeInBytes)
    throw new RangeError(`it has ${size} bytes, the log says ${vector.sizeInBytes}`);
  const data = bytes.subarray(offset - start + 4, offset - start + 4 + size);
  if (view.getUint32(4 + size) !== crc32(data)) throw new RangeError('its checksum does not match');
  return data;
}

async function fetchRange(
  place: Location,
  start: number,
  end: number,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  try {
    return await place.store.getRange(place.key, start, end, { signal });
  } catch (error) {
    if (isTableError(error, 'NOT_FOUND')) throw missingAs(error, place.key);
    throw error;
  }
}

function broken(dataFile: string, what: string, cause?: unknown): TableError {
  return new TableError(
    'CORRUPT_DATA_FILE',
    `The deletion vector of ${dataFile} cannot be used: ${what}. Restore it from a backup, or delete the data file's rows and write them again.`,
    { file: dataFile },
    cause,
  );
}
