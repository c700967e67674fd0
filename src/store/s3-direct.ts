import type { GetObjectCommandInput, PutObjectCommandInput } from '@aws-sdk/client-s3';
import { buffered, collectBytes, isErrorDocument, readBody } from './s3-body.js';
import type { S3Connection } from './s3-client.js';
import type { WireCall } from './s3-request.js';

type Signer = Awaited<ReturnType<S3Connection['client']['config']['signer']>>;
type HttpRequest = Parameters<Signer['sign']>[0];

/** Where the SDK sends requests for the objects of one bucket, and what signs them there. */
export interface Route {
  readonly place: Pick<HttpRequest, 'protocol' | 'hostname' | 'port'>;
  /** What stands before an object's encoded key in the path. */
  readonly root: string;
  /** The headers that every request has. */
  readonly headers: Readonly<Record<string, string>>;
  readonly signer: Signer;
  readonly signing: { readonly signingRegion: string; readonly signingService: string };
}

interface Answer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

type GetInput = Pick<GetObjectCommandInput, 'Bucket' | 'Key' | 'RequestPayer' | 'Range'>;

/**
 * Reads an object or a range of it. The SDK's middleware costs several times what signing and sending do, so only the first request of a bucket goes through
 * it: that one shows where requests go, and the ones after it are built here, signed by the SDK's signer and sent by its HTTP handler.
 */
export async function getObject(
  call: WireCall,
  input: GetInput,
): Promise<{ readonly bytes: Uint8Array; readonly contentRange: string | undefined }> {
  const { connection, http, tally } = call;
  const route = connection.routes.get(input.Bucket!);
  if (!route) {
    const { client, sdk } = connection;
    const answer = await client.send(learning(new sdk.GetObjectCommand(input), connection, input), http);
    const bytes = await readBody(answer.Body, answer.ContentLength, tally);
    return { bytes, contentRange: answer.ContentRange };
  }
  const answer = await send(call, route, {
    method: 'GET',
    key: input.Key!,
    headers: { ...payer(input), ...(input.Range !== undefined && { range: input.Range }) },
  });
  const length = answer.headers['content-length'];
  const bytes = await readBody(answer.body, length === undefined ? undefined : Number(length), tally);
  return { bytes, contentRange: answer.headers['content-range'] };
}

/** Puts an object, as `getObject` reads one. On AWS the SDK does it, with the checksums that it computes there. */
export async function putObject(
  call: WireCall,
  input: PutObjectCommandInput & { readonly Body: Uint8Array },
): Promise<void> {
  const { connection, http, tally } = call;
  const route = connection.custom ? connection.routes.get(input.Bucket!) : undefined;
  if (!route) {
    const { client, sdk } = connection;
    await client.send(buffered(learning(new sdk.PutObjectCommand(input), connection, input), tally), http);
    return;
  }
  const { ServerSideEncryption, SSEKMSKeyId, StorageClass, IfNoneMatch, Body } = input;
  const answer = await send(call, route, {
    method: 'PUT',
    key: input.Key!,
    headers: {
      'content-type': 'application/octet-stream',
      'content-length': String(Body.length),
      ...payer(input),
      ...(IfNoneMatch !== undefined && { 'if-none-match': IfNoneMatch }),
      ...(ServerSideEncryption && { 'x-amz-server-side-encryption': ServerSideEncryption }),
      ...(SSEKMSKeyId && { 'x-amz-server-side-encryption-aws-kms-key-id': SSEKMSKeyId }),
      ...(StorageClass && { 'x-amz-storage-class': StorageClass }),
    },
    body: Body,
  });
  const said = await collectBytes(answer.body);
  tally.received += said.length;
  if (isErrorDocument(said)) throw failure({ ...answer, statusCode: 500 }, said);
}

async function send(
  { connection, http }: WireCall,
  { place, root, headers, signer, signing }: Route,
  request: {
    readonly method: 'GET' | 'PUT';
    readonly key: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: Uint8Array;
  },
): Promise<Answer> {
  const { config } = connection.client;
  const unsigned: HttpRequest = {
    ...place,
    method: request.method,
    path: root + encodeKey(request.key),
    query: {},
    headers: { ...headers, ...request.headers },
    ...(request.body && { body: request.body }),
  };
  const signed = await signer.sign(unsigned, {
    ...signing,
    signingDate: new Date(Date.now() + config.systemClockOffset),
  });
  // The handler reads nothing but the fields.
  const { response } = await config.requestHandler.handle(signed as never, http);
  const answer: Answer = response;
  if (answer.statusCode >= 200 && answer.statusCode < 300) return answer;
  const error = failure(answer, await collectBytes(answer.body));
  // What the SDK does after any refusal, since not every server says that it is for the time: the next try is signed with the server's.
  const { date, age } = answer.headers;
  const serverTime = Date.parse(date ?? '');
  if (age === undefined && !Number.isNaN(serverTime) && !(await config.disableClockSkewCorrection()))
    config.systemClockOffset = serverTime - Date.now();
  throw error;
}

/** The error that the SDK would throw, as far as anyone here reads it. */
function failure({ statusCode, headers }: Answer, document: Uint8Array): Error {
  const text = Buffer.from(document.buffer, document.byteOffset, document.length).toString('utf8');
  const code = element(text, 'Code') ?? 'UnknownError';
  const region = element(text, 'Region');
  return Object.assign(new Error(element(text, 'Message') ?? code), {
    name: code,
    $metadata: { httpStatusCode: statusCode },
    $response: { statusCode, headers },
    ...(region !== undefined && { Region: region }),
  });
}

function element(document: string, name: string): string | undefined {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(document)?.[1];
  return text?.replace(/&(lt|gt|quot|apos|amp);/g, (_, entity: string) => ENTITIES[entity]!);
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

/** Part of an SDK command and of what its middleware is handed. */
interface Command {
  readonly middlewareStack: {
    add(
      middleware: (
        next: (args: Building) => Promise<never>,
        context: { readonly endpointV2?: { readonly properties?: { readonly authSchemes?: AuthScheme[] } } },
      ) => (args: Building) => Promise<never>,
      options: { step: 'build'; priority: 'low'; name: string },
    ): void;
  };
}

interface Building {
  readonly request: HttpRequest;
}

interface AuthScheme {
  readonly name: string;
  readonly signingName: string;
  readonly signingRegion: string;
}

/**
 * Has a command show the route of its bucket, where that is a plain one: signed by the fourth version for the service itself, the key at the path's end.
 * Directory buckets and access points for many regions are not.
 */
function learning<C>(command: C, connection: S3Connection, object: { Bucket?: string; Key?: string }): C {
  (command as Command).middlewareStack.add(
    (next, context) => async (args) => {
      const { protocol, hostname, port, path, headers } = args.request;
      const scheme = context.endpointV2?.properties?.authSchemes?.[0];
      const end = `/${encodeKey(object.Key!)}`;
      if (scheme?.name === 'sigv4' && scheme.signingName === 's3' && path.endsWith(end)) {
        const signer = await connection.client.config.signer(scheme as never);
        connection.routes.set(object.Bucket!, {
          place: { protocol, hostname, ...(port !== undefined && { port }) },
          root: path.slice(0, -end.length + 1),
          headers: Object.fromEntries(
            Object.entries(headers).filter(([name]) => EVERY_REQUEST.has(name.toLowerCase())),
          ),
          signer,
          signing: { signingRegion: scheme.signingRegion, signingService: scheme.signingName },
        });
      }
      return next(args);
    },
    { step: 'build', priority: 'low', name: 'learnRoute' },
  );
  return command;
}

const EVERY_REQUEST = new Set(['host', 'user-agent', 'x-amz-user-agent']);

function payer({ RequestPayer }: { readonly RequestPayer?: string }): Record<string, string> {
  return RequestPayer ? { 'x-amz-request-payer': RequestPayer } : {};
}

/** A key as it stands in a path: every segment by RFC 3986. */
function encodeKey(key: string): string {
  return encodeURIComponent(key)
    .replace(/%2F/g, '/')
    .replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}
