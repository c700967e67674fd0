import { TableError } from '../errors.js';
import { compareKeys, folderOf } from './keys.js';
import { buffered } from './s3-body.js';
import { type S3Wire, send } from './s3-request.js';
import type { ObjectMeta, RequestOptions } from './store.js';

export interface S3Listing extends RequestOptions {
  /** What stands before every key: '' or the table's prefix with a slash. */
  readonly root: string;
  readonly prefix: string;
  readonly after: string;
  /** False asks for a whole folder and filters here: directory buckets know neither part of a name nor start-after. */
  readonly ordered: boolean;
}

/** The pages of a listing with keys relative to the root, one request each. A page none of whose keys fit is not given. */
export async function* listObjects(wire: S3Wire, listing: S3Listing): AsyncGenerator<readonly ObjectMeta[]> {
  const { root, prefix, after, ordered, signal } = listing;
  const asked = {
    Bucket: wire.bucket,
    Prefix: root + (ordered ? prefix : folderOf(prefix)),
    ...(wire.settings.requestPayer && { RequestPayer: 'requester' as const }),
  };
  let from: { ContinuationToken?: string; StartAfter?: string } =
    ordered && after !== '' ? { StartAfter: root + after } : {};
  for (;;) {
    const page = await send(wire, {
      operation: 'list',
      key: prefix,
      ...(signal && { signal }),
      run: ({ connection, http, tally }) => {
        const { client, sdk } = connection;
        return client.send(buffered(new sdk.ListObjectsV2Command({ ...asked, ...from }), tally), http);
      },
    });
    const metas: ObjectMeta[] = [];
    for (const { Key: full = '', Size: size = 0, LastModified: modified } of page.Contents ?? []) {
      const key = full.slice(root.length);
      if (key !== '' && key.startsWith(prefix) && compareKeys(key, after) > 0)
        metas.push({ key, size, modifiedAt: modified?.getTime() ?? 0 });
    }
    if (metas.length > 0) yield metas;
    if (!page.IsTruncated) return;
    const token = page.NextContinuationToken;
    if (token === undefined || token === from.ContinuationToken)
      throw new TableError(
        'STORE_FAILED',
        `The listing of '${prefix}' in ${wire.store} goes on, and the server does not say where.`,
        { store: wire.store, prefix },
      );
    from = { ContinuationToken: token };
  }
}
