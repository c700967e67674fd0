import type { CompletedPart } from '@aws-sdk/client-s3';
import { isTableError, TableError } from '../errors.js';
import { assertNotAborted } from './keys.js';
import { buffered } from './s3-body.js';
import { type S3Wire, send } from './s3-request.js';

/** Where the parts go, and what `S3Store` does for an upload that needs none. */
export interface MultipartTarget {
  readonly wire: S3Wire;
  readonly key: string;
  readonly signal?: AbortSignal;
  /** Bucket, full key and payer, for every request. */
  readonly object: { readonly Bucket: string; readonly Key: string; readonly RequestPayer?: 'requester' };
  /** Encryption and storage class. */
  readonly creation: {
    readonly ServerSideEncryption?: 'AES256' | 'aws:kms' | 'aws:kms:dsse';
    readonly SSEKMSKeyId?: string;
    readonly StorageClass?: 'STANDARD';
  };
  putWhole(bytes: Uint8Array): Promise<void>;
  sizeOf(): Promise<number | undefined>;
}

/** All parts but the last have one size, which some servers insist on. */
export const PART_BYTES = 8 << 20;
const PARTS_AT_ONCE = 4;
const MOST_PARTS = 10_000;

/**
 * Uploads a stream and returns its size. Up to one part's bytes go up in a single put; more in parts, of which at most a few are held at once.
 * Nothing is visible before the last request. A failure, of the source too, aborts the upload and is thrown as it was; the abort itself is
 * best effort, so that a lifecycle rule for unfinished uploads is worth having.
 */
export async function uploadParts(
  target: MultipartTarget,
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Promise<number> {
  const uploads: Promise<CompletedPart>[] = [];
  const running = new Set<Promise<unknown>>();
  let size = 0;
  let uploadId: string | undefined;
  let failed: { readonly error: unknown } | undefined;
  try {
    let whole: Uint8Array | undefined;
    for await (const part of partsOf(chunks, target)) {
      size += part.length;
      if (part.length < PART_BYTES && uploadId === undefined) {
        whole = part;
        break;
      }
      uploadId ??= await createUpload(target);
      if (uploads.length === MOST_PARTS)
        throw new TableError(
          'STORE_UNSUPPORTED',
          `'${target.key}' is larger than ${MOST_PARTS} parts of ${PART_BYTES} bytes, which is all that S3 takes.`,
          { key: target.key },
        );
      while (running.size >= PARTS_AT_ONCE) await Promise.race(running);
      if (failed) throw failed.error;
      const upload = putPart(target, uploadId, uploads.length + 1, part);
      uploads.push(upload);
      const settled: Promise<unknown> = upload.then(
        () => running.delete(settled),
        (error) => {
          failed ??= { error };
          running.delete(settled);
        },
      );
      running.add(settled);
    }
    if (uploadId === undefined) {
      await target.putWhole(whole ?? new Uint8Array());
      return size;
    }
    await complete(target, uploadId, await Promise.all(uploads), size);
    return size;
  } catch (error) {
    await Promise.allSettled(uploads);
    if (uploadId !== undefined) await abortUpload(target, uploadId);
    throw error;
  }
}

/** Cuts the chunks into parts of exactly `PART_BYTES`, the last one shorter and not empty. */
async function* partsOf(
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  target: MultipartTarget,
): AsyncGenerator<Uint8Array> {
  let held: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    assertNotAborted(target.signal);
    for (let at = 0; at < chunk.length; ) {
      const piece = chunk.subarray(at, at + PART_BYTES - bytes);
      // Copied, because the source may use its buffer again while the part is on its way.
      held.push(piece.slice());
      bytes += piece.length;
      at += piece.length;
      if (bytes === PART_BYTES) {
        yield join(held, bytes);
        held = [];
        bytes = 0;
      }
    }
  }
  if (bytes > 0) yield join(held, bytes);
}

function join(pieces: readonly Uint8Array[], length: number): Uint8Array {
  if (pieces.length === 1 && pieces[0]) return pieces[0];
  const whole = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

async function createUpload(target: MultipartTarget): Promise<string> {
  const { wire, key, signal, object, creation } = target;
  const { UploadId } = await send(wire, {
    operation: 'createMultipart',
    key,
    ...(signal && { signal }),
    run: ({ connection, http, tally }) => {
      const { client, sdk } = connection;
      return client.send(
        buffered(new sdk.CreateMultipartUploadCommand({ ...object, ...creation }), tally),
        http,
      );
    },
  });
  if (UploadId !== undefined) return UploadId;
  throw new TableError(
    'STORE_FAILED',
    `The server began an upload of '${key}' in ${wire.store} and gave it no id.`,
    { key },
  );
}

async function putPart(
  target: MultipartTarget,
  uploadId: string,
  number: number,
  bytes: Uint8Array,
): Promise<CompletedPart> {
  const { wire, key, signal, object } = target;
  const answer = await send(wire, {
    operation: 'putPart',
    key,
    sent: bytes.length,
    ...(signal && { signal }),
    run: ({ connection, http, tally }) => {
      const { client, sdk } = connection;
      const part = {
        ...object,
        UploadId: uploadId,
        PartNumber: number,
        Body: bytes,
        ContentLength: bytes.length,
      };
      return client.send(buffered(new sdk.UploadPartCommand(part), tally), http);
    },
  });
  // A part uploaded with a checksum is named with it at the end.
  const { ETag, ChecksumCRC32, ChecksumCRC32C, ChecksumCRC64NVME, ChecksumSHA1, ChecksumSHA256 } = answer;
  return {
    PartNumber: number,
    ETag,
    ChecksumCRC32,
    ChecksumCRC32C,
    ChecksumCRC64NVME,
    ChecksumSHA1,
    ChecksumSHA256,
  };
}

/**
 * Makes the object out of its parts. A retry after a lost answer finds that the upload is gone, because the first try ended it: the object is
 * then there with the size that was sent. An answer of success that names no object is checked in the same way.
 */
async function complete(
  target: MultipartTarget,
  uploadId: string,
  parts: CompletedPart[],
  size: number,
): Promise<void> {
  const { wire, key, signal, object } = target;
  let etag: string | undefined;
  try {
    const answer = await send(wire, {
      operation: 'completeMultipart',
      key,
      ...(signal && { signal }),
      run: ({ connection, http, tally }) => {
        const { client, sdk } = connection;
        const command = new sdk.CompleteMultipartUploadCommand({
          ...object,
          UploadId: uploadId,
          MultipartUpload: { Parts: parts },
        });
        return client.send(buffered(command, tally), http);
      },
    });
    etag = answer.ETag;
  } catch (error) {
    if (!isTableError(error, 'NOT_FOUND') || (await target.sizeOf()) !== size) throw error;
    return;
  }
  if (etag === undefined && (await target.sizeOf()) !== size)
    throw new TableError(
      'STORE_FAILED',
      `The server said that '${key}' in ${wire.store} is complete, and it is not there.`,
      { key },
    );
}

async function abortUpload(target: MultipartTarget, uploadId: string): Promise<void> {
  const { wire, key, object } = target;
  await send(wire, {
    operation: 'abortMultipart',
    key,
    run: ({ connection, http, tally }) => {
      const { client, sdk } = connection;
      return client.send(
        buffered(new sdk.AbortMultipartUploadCommand({ ...object, UploadId: uploadId }), tally),
        http,
      );
    },
  }).catch(() => undefined);
}
