import { isTableError, TableError } from '../errors.js';
import type { Context } from '../runtime/context.js';
import { mayHaveLanded } from './classify.js';
import { assertKey, assertNotAborted, assertRange } from './keys.js';
import { type ConditionalWrites, probe } from './probe.js';
import { buffered } from './s3-body.js';
import { connectS3 } from './s3-client.js';
import { getObject, putObject } from './s3-direct.js';
import { listObjects } from './s3-list.js';
import { type MultipartTarget, uploadParts } from './s3-multipart.js';
import { type S3Options, s3Settings } from './s3-options.js';
import { type S3Wire, send, sendOnce, sendUntil, type WireRequest } from './s3-request.js';
import type { ObjectMeta, PutIfAbsentResult, RequestOptions, Store } from './store.js';
import { formatLocation } from './url.js';

/** Objects larger than this go up in parts, each of which is retried alone. */
const SINGLE_PUT_LIMIT = 64 << 20;

/** What `doctor` shows of a connection. */
export interface S3Description {
  readonly endpoint: string;
  readonly custom: boolean;
  readonly region: string;
  readonly bucket: string;
  readonly prefix: string;
  /** The access key id with its middle left out. */
  readonly accessKeyId: string;
}

/**
 * A prefix of a bucket as a store. No request goes out, and the SDK is not loaded, before the first operation.
 * Every operation but `putIfAbsent` is sent again after passing faults, for `retryForMs`; each wire request is one `request` event.
 */
export class S3Store implements Store {
  readonly url: string;
  readonly ordered: boolean;
  readonly #wire: S3Wire;
  readonly #prefix: string;
  readonly #root: string;
  #emulating: Promise<boolean> | undefined;

  constructor(
    ctx: Context,
    location: { readonly bucket: string; readonly prefix: string },
    options: S3Options = {},
  ) {
    const { bucket, prefix } = location;
    this.url = formatLocation({ kind: 's3', bucket, prefix });
    // Directory buckets of S3 Express list in no order and know no start-after.
    this.ordered = !bucket.endsWith('--x-s3');
    this.#wire = { ctx, store: this.url, bucket, settings: s3Settings(options) };
    this.#prefix = prefix;
    this.#root = prefix === '' ? '' : `${prefix}/`;
  }

  get(key: string, options?: RequestOptions): Promise<Uint8Array> {
    return this.#send(key, options, 'get', async (call) => (await getObject(call, this.#object(key))).bytes);
  }

  async getRange(key: string, start: number, end: number, options?: RequestOptions): Promise<Uint8Array> {
    assertRange(key, start, end);
    if (start === end) return new Uint8Array();
    const { bytes, whole } = await this.#ranged(key, `bytes=${start}-${end - 1}`, options);
    return whole ? bytes.slice(start, end) : bytes;
  }

  async getTail(
    key: string,
    length: number,
    options?: RequestOptions,
  ): Promise<{ bytes: Uint8Array; size: number }> {
    assertRange(key, 0, length);
    const { bytes, size } = await this.#ranged(key, `bytes=-${Math.max(1, length)}`, options);
    return { bytes: bytes.length > length ? bytes.slice(bytes.length - length) : bytes, size };
  }

  /** Costs a second request where the object is not there: the answer to a HEAD has no body, and so cannot tell a missing bucket or user. */
  async head(key: string, options?: RequestOptions): Promise<ObjectMeta | undefined> {
    const ask = (): Promise<ObjectMeta> =>
      this.#send(key, options, 'head', async ({ connection, http }) => {
        const { client, sdk } = connection;
        const answer = await client.send(new sdk.HeadObjectCommand(this.#object(key)), http);
        return { key, size: answer.ContentLength ?? 0, modifiedAt: answer.LastModified?.getTime() ?? 0 };
      });
    try {
      return await ask().catch(async (error) => {
        if (!isTableError(error, 'NOT_FOUND')) throw error;
        await this.getRange(key, 0, 1, options);
        return ask();
      });
    } catch (error) {
      if (isTableError(error, 'NOT_FOUND')) return undefined;
      throw error;
    }
  }

  async put(key: string, bytes: Uint8Array, options?: RequestOptions): Promise<void> {
    if (bytes.length > SINGLE_PUT_LIMIT) await uploadParts(this.#target(key, options), [bytes]);
    else await send(this.#wire, this.#putRequest('put', key, bytes, options));
  }

  putStream(key: string, chunks: AsyncIterable<Uint8Array>, options?: RequestOptions): Promise<number> {
    return uploadParts(this.#target(key, options), chunks);
  }

  /**
   * `PUT` with `If-None-Match: *`. Sent again, to the same key, after answers that say nothing landed (409, no connection) and after the
   * server's own failures (5xx). A broken connection, a timeout or an abort while the request was out gives `ambiguous` at once: reading
   * the object back tells more than sending it again. After any answer that leaves open whether it landed, `exists` may mean this call's own
   * object, and what would else be thrown (a refusal, the end of the retry time) is `ambiguous` with that error as cause.
   * Before the first one through an endpoint that is not AWS the store is probed; `UNSAFE_STORE` or `STORE_UNSUPPORTED` is then thrown before
   * anything is sent.
   */
  async putIfAbsent(key: string, bytes: Uint8Array, options?: RequestOptions): Promise<PutIfAbsentResult> {
    assertKey(key);
    assertNotAborted(options?.signal);
    const emulating = await this.#emulates();
    return emulating
      ? this.#putWhereNoneSeen(key, bytes, options)
      : this.#putConditionally(key, bytes, options);
  }

  list(
    prefix: string,
    options?: RequestOptions & { readonly after?: string },
  ): AsyncGenerator<readonly ObjectMeta[]> {
    const after = options?.after ?? '';
    return listObjects(this.#wire, {
      root: this.#root,
      prefix,
      after,
      ordered: this.ordered,
      ...(options?.signal && { signal: options.signal }),
    });
  }

  async delete(key: string, options?: RequestOptions): Promise<void> {
    await this.#send(key, options, 'delete', ({ connection, http, tally }) => {
      const { client, sdk } = connection;
      return client.send(buffered(new sdk.DeleteObjectCommand(this.#object(key)), tally), http);
    }).catch((error) => {
      if (!isTableError(error, 'NOT_FOUND')) throw error;
    });
  }

  /**
   * Whether the server honours `If-None-Match: *`: `trusted` for AWS, else what the probe found, at most a day ago unless `force`d.
   * Throws what keeps the probe from an answer: `PERMISSION_DENIED`, `NO_CREDENTIALS`, `STORE_FAILED`, `STORE_TIMEOUT`.
   */
  async conditionalWrites(
    options: RequestOptions & { readonly force?: boolean } = {},
  ): Promise<ConditionalWrites> {
    const { endpoint, custom } = await connectS3(this.#wire.settings);
    if (!custom) return 'trusted';
    const { ctx, bucket } = this.#wire;
    return probe({
      ctx,
      endpoint,
      bucket,
      store: this.url,
      force: options.force ?? false,
      putIfAbsent: (key, bytes) => this.#putConditionally(key, bytes, options),
      delete: (key) => this.delete(key, options),
    });
  }

  /** Throws `UNSAFE_STORE`, `STORE_UNSUPPORTED`, or what `conditionalWrites` throws, unless commits are safe or a single writer is stated. */
  async assertSafe(): Promise<void> {
    await this.#emulates();
  }

  /** Where requests go and who signs them; resolves the credentials. Throws `NO_CREDENTIALS`. */
  async describe(): Promise<S3Description> {
    const { bucket, settings, store } = this.#wire;
    const { endpoint, custom, region, client } = await connectS3(settings);
    try {
      const { accessKeyId } = await client.config.credentials();
      const masked = `${accessKeyId.slice(0, 4)}…${accessKeyId.slice(-2)}`;
      return { endpoint, custom, region, bucket, prefix: this.#prefix, accessKeyId: masked };
    } catch (error) {
      throw new TableError(
        'NO_CREDENTIALS',
        `No credentials for ${store} were found; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE.`,
        { store },
        error,
      );
    }
  }

  async #putConditionally(
    key: string,
    bytes: Uint8Array,
    options?: RequestOptions,
  ): Promise<PutIfAbsentResult> {
    const request = this.#putRequest('putIfAbsent', key, bytes, options);
    let mayBeThere = false;
    try {
      return await sendUntil(
        this.#wire,
        request,
        async () => {
          await sendOnce(this.#wire, request);
          return { outcome: 'created' } as const;
        },
        (fault, explained) => {
          if (fault.kind === 'exists') return { again: false, error: ALREADY_THERE };
          if (mayHaveLanded(fault.kind)) mayBeThere = true;
          if (fault.kind === 'network' || fault.kind === 'timeout' || fault.kind === 'aborted')
            return { again: false, error: explained };
          return undefined;
        },
      );
    } catch (error) {
      if (error === ALREADY_THERE) return { outcome: 'exists' };
      if (mayBeThere) return { outcome: 'ambiguous', cause: error };
      throw error;
    }
  }

  /** For a single writer on a server without conditional create. */
  async #putWhereNoneSeen(
    key: string,
    bytes: Uint8Array,
    options?: RequestOptions,
  ): Promise<PutIfAbsentResult> {
    if (await this.head(key, options)) return { outcome: 'exists' };
    try {
      await this.put(key, bytes, options);
    } catch (cause) {
      if (isTableError(cause, 'STORE_FAILED', 'STORE_TIMEOUT', 'ABORTED'))
        return { outcome: 'ambiguous', cause };
      throw cause;
    }
    return { outcome: 'created' };
  }

  #emulates(): Promise<boolean> {
    this.#emulating ??= this.#mustEmulate().catch((error) => {
      this.#emulating = undefined;
      throw error;
    });
    return this.#emulating;
  }

  /** Throws unless commits are safe; true where the caller answers for it that nobody else writes. */
  async #mustEmulate(): Promise<boolean> {
    const verdict = await this.conditionalWrites();
    if (verdict === 'trusted' || verdict === 'honoured') return false;
    const { ctx, settings } = this.#wire;
    const { endpoint } = await connectS3(settings);
    if (settings.singleWriter) {
      ctx.emit({
        type: 'warning',
        message: `${endpoint} has no conditional create; a second writer to ${this.url} would lose commits.`,
      });
      return true;
    }
    const context = { store: this.url, endpoint };
    if (verdict === 'unsupported')
      throw new TableError(
        'STORE_UNSUPPORTED',
        `The store at ${endpoint} does not support conditional create (If-None-Match), which commits need. Use a server that does, or state singleWriter if nothing else ever writes to this table.`,
        context,
      );
    throw new TableError(
      'UNSAFE_STORE',
      `The store at ${endpoint} ignores If-None-Match: a second create of one object overwrote the first, so two writers would lose commits. Use a server that honours it, or state singleWriter if nothing else ever writes to this table. ('tablectl doctor' probes again.)`,
      context,
    );
  }

  async #ranged(
    key: string,
    range: string,
    options?: RequestOptions,
  ): Promise<{ bytes: Uint8Array; size: number; whole: boolean }> {
    assertKey(key);
    const request: WireRequest<{ bytes: Uint8Array; size: number; whole: boolean }> = {
      operation: 'getRange',
      key,
      ...(options?.signal && { signal: options.signal }),
      run: async (call) => {
        const { bytes, contentRange } = await getObject(call, { ...this.#object(key), Range: range });
        const total = /\/(\d+)$/.exec(contentRange ?? '')?.[1];
        // Without a content range the server took no notice of the range and sent the whole object.
        return {
          bytes,
          size: total === undefined ? bytes.length : Number(total),
          whole: total === undefined,
        };
      },
    };
    const nothing = new Error('no such bytes');
    return sendUntil(
      this.#wire,
      request,
      () => sendOnce(this.#wire, request),
      (fault) => (fault.kind === 'range' ? { again: false, error: nothing } : undefined),
    ).catch((error) => {
      // A tail fails so for an empty object only, whose size is thereby known.
      if (error === nothing) return { bytes: new Uint8Array(), size: 0, whole: false };
      throw error;
    });
  }

  #putRequest(
    operation: 'put' | 'putIfAbsent',
    key: string,
    bytes: Uint8Array,
    options?: RequestOptions,
  ): WireRequest<void> {
    assertKey(key);
    return {
      operation,
      key,
      sent: bytes.length,
      ...(options?.signal && { signal: options.signal }),
      run: (call) =>
        putObject(call, {
          ...this.#object(key),
          ...this.#putOptions(),
          ...(operation === 'putIfAbsent' && { IfNoneMatch: '*' }),
          Body: bytes,
          ContentLength: bytes.length,
        }),
    };
  }

  #target(key: string, options?: RequestOptions): MultipartTarget {
    assertKey(key);
    return {
      wire: this.#wire,
      key,
      ...(options?.signal && { signal: options.signal }),
      object: this.#object(key),
      creation: this.#putOptions(),
      putWhole: (bytes) => send(this.#wire, this.#putRequest('put', key, bytes, options)),
      sizeOf: async () => (await this.head(key, options))?.size,
    };
  }

  #send<T>(
    key: string,
    options: RequestOptions | undefined,
    operation: WireRequest<T>['operation'],
    run: WireRequest<T>['run'],
  ): Promise<T> {
    assertKey(key);
    return send(this.#wire, { operation, key, ...(options?.signal && { signal: options.signal }), run });
  }

  #object(key: string): { Bucket: string; Key: string; RequestPayer?: 'requester' } {
    return { ...this.#bucket(), Key: this.#root + key };
  }

  #bucket(): { Bucket: string; RequestPayer?: 'requester' } {
    return {
      Bucket: this.#wire.bucket,
      ...(this.#wire.settings.requestPayer && { RequestPayer: 'requester' }),
    };
  }

  #putOptions(): MultipartTarget['creation'] {
    const { serverSideEncryption, kmsKeyId, storageClass } = this.#wire.settings;
    return {
      ...(serverSideEncryption && { ServerSideEncryption: serverSideEncryption }),
      ...(kmsKeyId && { SSEKMSKeyId: kmsKeyId }),
      ...(storageClass && { StorageClass: storageClass as 'STANDARD' }),
    };
  }
}

/** Marks, inside this file, that the condition of a put did not hold. */
const ALREADY_THERE = new Error('the object is there already');
