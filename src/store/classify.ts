/** What a failed request to an S3 server means for the next step. */
export type FaultKind =
  | 'exists' // the condition of a put did not hold
  | 'missing' // no such object or upload
  | 'conflict' // another conditional request was under way; nothing landed
  | 'throttled' // asked to slow down
  | 'server' // the server failed; the request may have been applied
  | 'network' // the connection broke; the request may have been applied
  | 'timeout' // no answer in time; the request may still be applied
  | 'unreachable' // never connected, so nothing was applied
  | 'aborted' // by the caller's signal; the request may still be applied
  | 'clock' // the clocks of both sides are too far apart
  | 'credentials' // none found, or expired or unknown
  | 'denied' // known, and not allowed
  | 'noBucket'
  | 'region' // the bucket is somewhere else
  | 'unsupported' // the server does not know what was asked
  | 'range' // the object has no such bytes
  | 'tls' // the server's certificate is not trusted, or it does not speak TLS
  | 'refused'; // any other definite no

export interface Fault {
  readonly kind: FaultKind;
  /** The server's or the system's own code, `Unknown` where there is none. */
  readonly code: string;
  readonly status?: number;
  readonly message: string;
  /** The bucket's region, where the answer named it. */
  readonly region?: string;
}

const BY_CODE: ReadonlyMap<string, FaultKind> = new Map(
  Object.entries({
    exists: ['PreconditionFailed'],
    missing: ['NoSuchKey', 'NotFound', 'NoSuchUpload', 'NoSuchVersion'],
    conflict: ['ConditionalRequestConflict', 'OperationAborted'],
    throttled: [
      'SlowDown',
      'SlowDownRead',
      'SlowDownWrite',
      'ServiceUnavailable',
      'Throttling',
      'ThrottlingException',
      'RequestLimitExceeded',
      'TooManyRequests',
      'TooManyRequestsException',
      'BandwidthLimitExceeded',
      'RequestThrottled',
      'RequestThrottledException',
    ],
    server: ['InternalError', 'InternalServerError', 'RequestTimeout', 'RequestTimeoutException'],
    network: [
      'ECONNRESET',
      'EPIPE',
      'ECONNABORTED',
      'ERR_STREAM_PREMATURE_CLOSE',
      'IncompleteBody',
      'BadDigest',
      'XAmzContentSHA256Mismatch',
      'HPE_INVALID_CONSTANT',
      'HPE_INVALID_EOF_STATE',
      'HPE_CLOSED_CONNECTION',
    ],
    timeout: ['ETIMEDOUT', 'ESOCKETTIMEDOUT'],
    unreachable: [
      'ECONNREFUSED',
      'ENOTFOUND',
      'EAI_AGAIN',
      'EHOSTUNREACH',
      'ENETUNREACH',
      'EADDRNOTAVAIL',
      'ENETDOWN',
      'EHOSTDOWN',
    ],
    aborted: ['AbortError', 'ABORT_ERR'],
    clock: ['RequestTimeTooSkewed', 'RequestInTheFuture'],
    credentials: [
      'ExpiredToken',
      'ExpiredTokenException',
      'TokenRefreshRequired',
      'InvalidToken',
      'InvalidAccessKeyId',
      'InvalidClientTokenId',
      'SignatureDoesNotMatch',
      'RequestExpired',
      'CredentialsProviderError',
      'TokenProviderError',
      'UnrecognizedClientException',
      'AuthFailure',
      'InvalidSecurity',
      'NotSignedUp',
      'XAdminUserNotFound',
    ],
    denied: [
      'AccessDenied',
      'AccessDeniedException',
      'Forbidden',
      'AllAccessDisabled',
      'AccountProblem',
      'InvalidPayer',
      'UnauthorizedAccess',
    ],
    noBucket: ['NoSuchBucket', 'InvalidBucketName', 'InvalidBucketNameError'],
    region: [
      'PermanentRedirect',
      'TemporaryRedirect',
      'Redirect',
      'IllegalLocationConstraintException',
      'AuthorizationHeaderMalformed',
    ],
    unsupported: ['NotImplemented', 'MethodNotAllowed', 'UnsupportedOperation'],
    range: ['InvalidRange'],
    tls: [
      'EPROTO',
      'ERR_TLS_CERT_ALTNAME_INVALID',
      'CERT_HAS_EXPIRED',
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'SELF_SIGNED_CERT_IN_CHAIN',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
      'UNABLE_TO_GET_ISSUER_CERT',
      'ERR_SSL_WRONG_VERSION_NUMBER',
      'ERR_SSL_PACKET_LENGTH_TOO_LONG',
    ],
  } satisfies Partial<Record<FaultKind, string[]>>).flatMap(([kind, codes]) =>
    codes.map((code) => [code, kind as FaultKind] as const),
  ),
);

/**
 * Reads an error of the SDK or the network. The server's error code decides first, because proxies and some servers send it with a status of
 * their own; the status decides where the code is unknown, and the system's code where there was no answer at all.
 */
export function classify(error: unknown): Fault {
  const parts = takeApart(error);
  const { name, systemCode, status, message } = parts;
  const code = BY_CODE.has(name)
    ? name
    : systemCode !== undefined && BY_CODE.has(systemCode)
      ? systemCode
      : (systemCode ?? name);
  const kind = kindOf(code, name, status, message);
  return {
    kind,
    code,
    message,
    ...(status !== undefined && { status }),
    ...(parts.region !== undefined && { region: parts.region }),
  };
}

/** True for faults after which the request may have been applied, or may be later. */
export function mayHaveLanded(kind: FaultKind): boolean {
  return (
    kind === 'server' ||
    kind === 'throttled' ||
    kind === 'network' ||
    kind === 'timeout' ||
    kind === 'aborted'
  );
}

/** True for faults that pass by themselves. */
export function isPassing(kind: FaultKind): boolean {
  return kind === 'conflict' || kind === 'unreachable' || (mayHaveLanded(kind) && kind !== 'aborted');
}

function kindOf(code: string, name: string, status: number | undefined, message: string): FaultKind {
  const known = BY_CODE.get(code);
  if (known) return known;
  if (name === 'TimeoutError') return /establish a connection/.test(message) ? 'unreachable' : 'timeout';
  // A 404 with a code of its own speaks of something else than the object: one server answers so to an unknown user.
  if (status === 404) return NO_CODE.test(name) ? 'missing' : 'refused';
  if (status !== undefined) return kindOfStatus(status);
  return /socket hang up|aborted|premature close/i.test(message) ? 'network' : 'refused';
}

function kindOfStatus(status: number): FaultKind {
  if (status === 412) return 'exists';
  if (status === 409) return 'conflict';
  if (status === 429 || status === 503) return 'throttled';
  if (status === 501 || status === 405) return 'unsupported';
  if (status >= 500) return 'server';
  if (status === 401) return 'credentials';
  if (status === 403) return 'denied';
  if (status === 301 || status === 302 || status === 307 || status === 308) return 'region';
  if (status === 416) return 'range';
  if (status === 408) return 'server';
  return 'refused';
}

/** What the SDK calls an error whose answer had no document. */
const NO_CODE = /^(Unknown|UnknownError|Error|S3ServiceException|\d{3})$/;

interface Parts {
  readonly name: string;
  readonly systemCode: string | undefined;
  readonly status: number | undefined;
  readonly message: string;
  readonly region: string | undefined;
}

function takeApart(error: unknown): Parts {
  const fields = asRecord(error);
  const metadata = asRecord(fields.$metadata);
  const response = asRecord(fields.$response);
  const headers = asRecord(response.headers);
  const nested = Array.isArray(fields.errors) ? asRecord(fields.errors[0]) : asRecord(fields.cause);
  return {
    name: text(fields.name) ?? 'Unknown',
    // A connection tried on several addresses fails with an AggregateError whose members hold the reason.
    systemCode: text(fields.code) ?? text(fields.Code) ?? text(nested.code),
    status: status(metadata.httpStatusCode) ?? status(response.statusCode),
    message: text(fields.message) || text(nested.message) || String(error),
    region: text(headers['x-amz-bucket-region']) ?? text(fields.Region),
  };
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function status(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
