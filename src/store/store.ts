/** One object as a listing or HEAD tells it. `key` is relative to the store's root; `modifiedAt` is milliseconds since the Unix epoch. */
export interface ObjectMeta {
  readonly key: string;
  readonly size: number;
  readonly modifiedAt: number;
}

export interface RequestOptions {
  readonly signal?: AbortSignal;
}

/**
 * What became of a put-if-absent, with the evidence the caller needs:
 * `created`: this call created the object. `exists`: the store answered that there is an object of that key (it may be this call's own, when
 * a retry below met its first try). `ambiguous`: no answer that proves either (timeout, dropped connection, 5xx, abort during the put).
 * A definite refusal never preceded by an ambiguous try is thrown as `TableError`.
 */
export type PutIfAbsentResult =
  | { readonly outcome: 'created' }
  | { readonly outcome: 'exists' }
  | { readonly outcome: 'ambiguous'; readonly cause: unknown };

/**
 * The object storage behind a table. Keys are relative to the root, use `/`, are never percent-decoded, and never start with `/`.
 * Every method throws `TableError`: `INVALID_INPUT` for a key or range that cannot be, `NOT_FOUND`, `PERMISSION_DENIED`, `NO_CREDENTIALS`, `STORE_TIMEOUT`, `STORE_FAILED`, `STORE_UNSUPPORTED`, `ABORTED`.
 * Reads and `delete` retry passing faults within the store's own time limit. Implementations pass `store/conformance.ts`.
 */
export interface Store {
  /** The root's canonical URL without a trailing slash: `s3://bucket/prefix`, `file:///path`, `memory://name`. */
  readonly url: string;
  /** The whole object. */
  get(key: string, options?: RequestOptions): Promise<Uint8Array>;
  /** Bytes [start, end) of the object; shorter when the object ends before. */
  getRange(key: string, start: number, end: number, options?: RequestOptions): Promise<Uint8Array>;
  /** The last `length` bytes (or all, when the object is shorter) and the object's size, in one request. */
  getTail(
    key: string,
    length: number,
    options?: RequestOptions,
  ): Promise<{ bytes: Uint8Array; size: number }>;
  /** Undefined where there is no such object. */
  head(key: string, options?: RequestOptions): Promise<ObjectMeta | undefined>;
  /** Creates or replaces the object; on success it is durable. */
  put(key: string, bytes: Uint8Array, options?: RequestOptions): Promise<void>;
  /** Creates or replaces a large object from a stream in bounded memory; nothing is visible before the end; a failure leaves nothing. Returns its size. */
  putStream(key: string, chunks: AsyncIterable<Uint8Array>, options?: RequestOptions): Promise<number>;
  /**
   * The commit primitive: creates the object unless one exists, atomically and durably, never visible in part.
   * Throws `UNSAFE_STORE`, before anything is sent, for a server known to let a second create win.
   */
  putIfAbsent(key: string, bytes: Uint8Array, options?: RequestOptions): Promise<PutIfAbsentResult>;
  /**
   * Pages of the objects whose keys start with `prefix` and are greater (by UTF-8 bytes) than `after`.
   * A page may be unordered where `ordered` is false; there is no order across pages then either.
   */
  list(
    prefix: string,
    options?: RequestOptions & { readonly after?: string },
  ): AsyncIterable<readonly ObjectMeta[]>;
  /** False for stores that list in no particular order. */
  readonly ordered: boolean;
  /** Removes the object; no error where there is none. */
  delete(key: string, options?: RequestOptions): Promise<void>;
}
