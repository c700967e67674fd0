import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3';
import type { Route } from './s3-direct.js';
import type { S3Credentials, S3Settings } from './s3-options.js';
import { Slots } from './slots.js';

type Sdk = typeof import('@aws-sdk/client-s3');

/** A client with what its requests and their errors need to know. */
export interface S3Connection {
  readonly sdk: Sdk;
  readonly client: S3Client;
  /** The custom endpoint's address without a trailing slash, else `AWS`. */
  readonly endpoint: string;
  /** True unless the endpoint is one of AWS's own hosts. */
  readonly custom: boolean;
  readonly region: string;
  /** One for each socket. */
  readonly slots: Slots;
  /** By bucket, once a request of it has shown where requests go. */
  readonly routes: Map<string, Route>;
  /** Set once the server has answered anything: until then a wrong address is likelier than a passing fault. */
  reached: boolean;
  /** Asks the credentials' source again; calls at the same time share one answer. */
  refreshCredentials(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 5_000;
/** What of the environment decides who signs and where to; a change of it means another client. */
const ENVIRONMENT = [
  'AWS_ENDPOINT_URL_S3',
  'AWS_ENDPOINT_URL',
  'AWS_REGION',
  'AWS_DEFAULT_REGION',
  'AWS_PROFILE',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'AWS_CONFIG_FILE',
  'AWS_SHARED_CREDENTIALS_FILE',
  'AWS_ROLE_ARN',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_IGNORE_CONFIGURED_ENDPOINT_URLS',
];
const NODE_WARNING_SWITCH = 'AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED';
const SILENT = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };

const connections = new Map<string, Promise<S3Connection>>();
const providerIds = new WeakMap<object, number>();
let lastProviderId = 0;

/**
 * The process's connection for these settings, made on the first call: the SDK is loaded then, and not before. Stores with equal settings in
 * an equal environment share one, and with it sockets and credentials. A connection that could not be made is not kept.
 */
export function connectS3(settings: S3Settings): Promise<S3Connection> {
  const identity = identityOf(settings);
  const known = connections.get(identity);
  if (known) return known;
  const made = makeConnection(settings);
  connections.set(identity, made);
  made.catch(() => connections.delete(identity));
  return made;
}

/** True for the hosts of AWS itself, in any partition: they honour conditional writes and are not probed. */
export function isAwsEndpoint(endpoint: string): boolean {
  const host = URL.canParse(endpoint) ? new URL(endpoint).hostname : endpoint;
  return /(^|\.)(amazonaws\.com(\.cn)?|amazonaws\.eu|api\.aws|api\.amazonwebservices\.com\.cn)$/i.test(host);
}

async function makeConnection(settings: S3Settings): Promise<S3Connection> {
  const sdk = await import('@aws-sdk/client-s3');
  const env = process.env;
  const given = {
    endpoint: settings.endpoint ?? (env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL || undefined),
    region: settings.region ?? (env.AWS_REGION || env.AWS_DEFAULT_REGION || undefined),
  };
  if (env.AWS_IGNORE_CONFIGURED_ENDPOINT_URLS === 'true') given.endpoint = settings.endpoint;
  const { endpoint, region } = await fromProfile(sdk, given);
  const custom = endpoint !== undefined && !isAwsEndpoint(endpoint);
  const client = newClient(sdk, {
    ...(endpoint !== undefined && { endpoint }),
    region,
    ...(settings.credentials !== undefined && { credentials: credentialsOf(settings.credentials) }),
    forcePathStyle: settings.forcePathStyle ?? custom,
    requestChecksumCalculation: custom ? 'WHEN_REQUIRED' : 'WHEN_SUPPORTED',
    // The checksum of a whole object cannot check a range of it, and some servers send it all the same.
    responseChecksumValidation: 'WHEN_REQUIRED',
    // With it the SDK opens a connection of its own for every large put, outside the limit on sockets.
    expectContinueHeader: false,
    followRegionRedirects: false,
    disableS3ExpressSessionAuth: custom,
    maxAttempts: 1,
    logger: SILENT,
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: settings.requestTimeoutMs,
      throwOnRequestTimeout: true,
      socketTimeout: settings.requestTimeoutMs,
      httpAgent: { keepAlive: true, maxSockets: settings.maxSockets },
      httpsAgent: { keepAlive: true, maxSockets: settings.maxSockets },
      logger: SILENT,
    },
  });
  let refreshing: Promise<void> | undefined;
  return {
    sdk,
    client,
    endpoint: custom ? endpoint.replace(/\/+$/, '') : 'AWS',
    custom,
    region,
    slots: new Slots(settings.maxSockets),
    routes: new Map(),
    reached: false,
    refreshCredentials() {
      refreshing ??= client.config
        .credentials({ forceRefresh: true })
        .then(() => undefined)
        .finally(() => {
          refreshing = undefined;
        });
      return refreshing;
    },
  };
}

/** Fills in endpoint and region from the AWS profile, read by the SDK itself. */
async function fromProfile(
  sdk: Sdk,
  given: { endpoint: string | undefined; region: string | undefined },
): Promise<{ endpoint: string | undefined; region: string }> {
  if (given.endpoint !== undefined && given.region !== undefined)
    return { endpoint: given.endpoint, region: given.region };
  const draft = newClient(sdk, given.region === undefined ? {} : { region: given.region });
  const endpoint = given.endpoint ?? (await draft.config.serviceConfiguredEndpoint?.());
  const region = given.region ?? (await draft.config.region().catch(() => undefined));
  draft.destroy();
  return { endpoint, region: region ?? 'us-east-1' };
}

/** Makes a client without the SDK's warning about the age of Node, by the SDK's own switch, and leaves the environment as it was. */
function newClient(sdk: Sdk, config: S3ClientConfig): S3Client {
  const before = process.env[NODE_WARNING_SWITCH];
  process.env[NODE_WARNING_SWITCH] = 'true';
  try {
    return new sdk.S3Client(config);
  } finally {
    if (before === undefined) delete process.env[NODE_WARNING_SWITCH];
    else process.env[NODE_WARNING_SWITCH] = before;
  }
}

function credentialsOf(
  given: S3Credentials | (() => Promise<S3Credentials>),
): NonNullable<S3ClientConfig['credentials']> {
  return typeof given === 'function' ? () => given() : { ...given };
}

function identityOf(settings: S3Settings): string {
  const { credentials, endpoint, region, forcePathStyle, requestTimeoutMs, maxSockets } = settings;
  const who = typeof credentials === 'function' ? providerId(credentials) : credentials;
  const environment = ENVIRONMENT.map((name) => process.env[name] ?? null);
  return JSON.stringify([endpoint, region, forcePathStyle, requestTimeoutMs, maxSockets, who, environment]);
}

function providerId(provider: object): number {
  const known = providerIds.get(provider);
  if (known !== undefined) return known;
  lastProviderId += 1;
  providerIds.set(provider, lastProviderId);
  return lastProviderId;
}
