import { type ErrorCode, TableError } from '../errors.js';
import type { StoreOperation } from '../runtime/events.js';
import type { Fault } from './classify.js';
import { notFound } from './keys.js';

/** What the message of an error needs to know about the request that failed. */
export interface RequestPlace {
  readonly operation: StoreOperation;
  /** Relative to the store's root, as in every context of an error. */
  readonly key: string;
  /** The store's URL. */
  readonly store: string;
  readonly bucket: string;
  /** The endpoint's address, or `AWS`. */
  readonly endpoint: string;
  /** The region that requests are signed for. */
  readonly region: string;
}

const PERMISSIONS: Readonly<Record<StoreOperation, string>> = {
  get: 's3:GetObject',
  getRange: 's3:GetObject',
  head: 's3:GetObject',
  put: 's3:PutObject',
  putIfAbsent: 's3:PutObject',
  list: 's3:ListBucket',
  delete: 's3:DeleteObject',
  createMultipart: 's3:PutObject',
  putPart: 's3:PutObject',
  completeMultipart: 's3:PutObject',
  abortMultipart: 's3:AbortMultipartUpload',
};

/** The `TableError` for a fault: what happened, where, and what to do about it. */
export function faultError(fault: Fault, place: RequestPlace, cause: unknown): TableError {
  if (fault.kind === 'missing') return notFound(place.store, place.key, cause);
  const [code, message] = explain(fault, place);
  const context = {
    ...place,
    ...(fault.status !== undefined && { status: fault.status }),
    fault: fault.code,
  };
  return new TableError(
    code,
    message,
    { ...context, ...(fault.region !== undefined && { bucketRegion: fault.region }) },
    cause,
  );
}

function explain(fault: Fault, place: RequestPlace): readonly [ErrorCode, string] {
  const { operation, key, store, bucket, endpoint, region } = place;
  const what = `${operation} of '${key}' in ${store}`;
  switch (fault.kind) {
    case 'credentials':
      if (fault.code === 'CredentialsProviderError' || fault.code === 'TokenProviderError')
        return [
          'NO_CREDENTIALS',
          `No credentials for ${store} were found; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or run where a role is given. (${fault.message})`,
        ];
      return [
        'NO_CREDENTIALS',
        `${endpoint} did not accept the credentials for ${store} (${fault.code}: ${fault.message}); check that they belong to this server and have not expired.`,
      ];
    case 'denied':
      return [
        'PERMISSION_DENIED',
        `${endpoint} refused ${what} (${fault.code}); the credentials need ${PERMISSIONS[operation]} on bucket '${bucket}'.`,
      ];
    case 'noBucket':
      return [
        'STORE_FAILED',
        `There is no bucket '${bucket}' at ${endpoint} (${fault.code}); create it, or check the name and the endpoint.`,
      ];
    case 'region':
      return [
        'STORE_FAILED',
        fault.region
          ? `Bucket '${bucket}' is in region ${fault.region}, and the request was for ${region}; set AWS_REGION=${fault.region} or the region option.`
          : `Bucket '${bucket}' is not in region ${region} of ${endpoint} (${fault.code}); set AWS_REGION or the region option to the bucket's region.`,
      ];
    case 'unsupported':
      if (operation === 'putIfAbsent')
        return [
          'STORE_UNSUPPORTED',
          `The store at ${endpoint} does not support conditional create (If-None-Match; ${fault.code}), which commits need. Use a server that does, or state singleWriter if nothing else ever writes to this table.`,
        ];
      return [
        'STORE_UNSUPPORTED',
        `The store at ${endpoint} does not support ${what} (${fault.code}: ${fault.message}).`,
      ];
    case 'unreachable':
      return [
        'STORE_FAILED',
        `${endpoint} could not be reached for ${what} (${fault.code}: ${fault.message}); check the endpoint and the network.`,
      ];
    case 'tls':
      return [
        'STORE_FAILED',
        `No trusted connection to ${endpoint} could be made (${fault.code}: ${fault.message}); check http or https in the endpoint, and NODE_EXTRA_CA_CERTS for a private authority.`,
      ];
    case 'clock':
      return [
        'STORE_FAILED',
        `${endpoint} says that this machine's clock is wrong (${fault.code}); set the clock.`,
      ];
    case 'timeout':
      return ['STORE_TIMEOUT', `${endpoint} did not answer ${what} in time (${fault.message}).`];
    case 'aborted':
      return ['ABORTED', `${what} was aborted by its signal.`];
    default:
      return [
        'STORE_FAILED',
        `${endpoint} failed at ${what} (${fault.code}${fault.status === undefined ? '' : `, status ${fault.status}`}: ${fault.message}).`,
      ];
  }
}
