import { Agent, createServer, type IncomingHttpHeaders, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import type { S3Options } from '../../src/store/s3-options.js';
import type { S3Server } from './s3-server.js';

/** A request as it came to the proxy. */
export interface ProxiedRequest {
  readonly method: string;
  /** Percent-decoded, without the query: `/bucket/key`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** What goes wrong with a request. */
export type FaultAction =
  /** The server applies the request; the client's connection is dropped before a reply. */
  | { readonly kind: 'dropReply' }
  /** The connection is dropped, and the server never hears of the request. */
  | { readonly kind: 'dropRequest' }
  /** The server applies the request after `ms`, whether the client still waits or not. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** The server applies the request; the client is told an error. */
  | { readonly kind: 'errorAfterApplying'; readonly status: number; readonly code: string }
  /** The client is told an error document with a status, which may be 200; the server never hears of the request. */
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly code: string;
      readonly headers?: Record<string, string>;
    }
  /** If-None-Match is taken no notice of: the put replaces what is there, and the reply is the server's to a plain put. */
  | { readonly kind: 'ignoreCondition' }
  /** Range is taken no notice of: the reply is the whole object, with status 200. */
  | { readonly kind: 'ignoreRange' }
  /** Half of the reply's body arrives, then the connection is dropped. */
  | { readonly kind: 'truncateReply' };

export interface FaultProxy {
  readonly endpoint: string;
  /** The options of the server behind it, with the proxy's endpoint. */
  readonly options: S3Server['options'];
  /** Every request so far, in order. */
  readonly requests: readonly ProxiedRequest[];
  /** Does `action` to the next `times` requests that match (every one by default); earlier faults come first. */
  fault(match: (request: ProxiedRequest) => boolean, action: FaultAction, times?: number): void;
  /** Lets everything pass again. */
  clear(): void;
  /** How many requests matched so far. */
  count(match: (request: ProxiedRequest) => boolean): number;
  /** Resolves when every request, also one whose client is gone, has been applied. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

interface Fault {
  readonly match: (request: ProxiedRequest) => boolean;
  readonly action: FaultAction;
  left: number;
}

/** An HTTP proxy in front of an S3 server that does what networks and lesser servers do. The host header passes as it is, because it is signed. */
export async function startFaultProxy(server: Pick<S3Server, 'endpoint' | 'options'>): Promise<FaultProxy> {
  const target = new URL(server.endpoint);
  const agent = new Agent({ keepAlive: true });
  const direct = new S3Client({ ...(server.options as S3Options), forcePathStyle: true } as never);
  const requests: ProxiedRequest[] = [];
  const pending = new Set<Promise<void>>();
  let faults: Fault[] = [];

  const forward = (incoming: ProxiedRequest, url: string): Promise<Reply> =>
    new Promise((resolve, reject) => {
      const { method, headers } = incoming;
      const outgoing = request(
        { host: target.hostname, port: target.port, path: url, method, headers, agent },
        (reply) => {
          const chunks: Buffer[] = [];
          reply.on('data', (chunk: Buffer) => chunks.push(chunk));
          reply.on('error', reject);
          reply.on('end', () =>
            resolve({ status: reply.statusCode ?? 500, headers: reply.headers, body: Buffer.concat(chunks) }),
          );
        },
      );
      outgoing.on('error', reject);
      outgoing.end(incoming.body);
    });

  const putPlain = async ({ path, body }: ProxiedRequest): Promise<Reply> => {
    const [, bucket = '', ...key] = path.split('/');
    const { ETag } = await direct.send(
      new PutObjectCommand({ Bucket: bucket, Key: key.join('/'), Body: body }),
    );
    return { status: 200, headers: { etag: ETag ?? '""' }, body: Buffer.alloc(0) };
  };

  const getWhole = async ({ path }: ProxiedRequest): Promise<Reply> => {
    const [, bucket = '', ...key] = path.split('/');
    const { Body } = await direct.send(new GetObjectCommand({ Bucket: bucket, Key: key.join('/') }));
    const body = Buffer.from((await Body?.transformToByteArray()) ?? []);
    return { status: 200, headers: { 'content-length': String(body.length) }, body };
  };

  const act = async (
    incoming: ProxiedRequest,
    url: string,
    action: FaultAction | undefined,
    out: ServerResponse,
  ) => {
    if (action?.kind === 'dropRequest') return drop(out);
    if (action?.kind === 'answer') return send(out, errorReply(action));
    if (action?.kind === 'ignoreCondition' && incoming.headers['if-none-match'] !== undefined)
      return send(out, await putPlain(incoming));
    if (action?.kind === 'ignoreRange') return send(out, await getWhole(incoming));
    if (action?.kind === 'delay') await new Promise((resolve) => setTimeout(resolve, action.ms));
    const reply = await forward(incoming, url);
    if (action?.kind === 'dropReply') return drop(out);
    if (action?.kind === 'errorAfterApplying') return send(out, errorReply(action));
    if (action?.kind === 'truncateReply') return truncate(out, reply, incoming.method);
    return send(out, reply, incoming.method);
  };

  const http = createServer((req, out) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const url = req.url ?? '/';
      const [path = '/', query = ''] = url.split('?');
      const incoming: ProxiedRequest = {
        method: req.method ?? 'GET',
        path: decodeURIComponent(path),
        query: new URLSearchParams(query),
        headers: req.headers,
        body: Buffer.concat(chunks),
      };
      requests.push(incoming);
      const fault = faults.find(({ left, match }) => left > 0 && match(incoming));
      if (fault) fault.left -= 1;
      const done: Promise<void> = act(incoming, url, fault?.action, out)
        .catch(() => drop(out))
        .finally(() => pending.delete(done));
      pending.add(done);
    });
  });
  http.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;

  return {
    endpoint,
    options: { ...server.options, endpoint },
    requests,
    fault: (match, action, times = Number.POSITIVE_INFINITY) => {
      faults.push({ match, action, left: times });
    },
    clear: () => {
      faults = [];
    },
    count: (match) => requests.filter(match).length,
    settled: async () => {
      while (pending.size > 0) await Promise.all(pending);
    },
    stop: async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
      agent.destroy();
      direct.destroy();
    },
  };
}

/** Puts with a condition, of keys that end so: the commits of a table, for one. */
export function conditionalPut(suffix = ''): (request: ProxiedRequest) => boolean {
  return ({ method, path, headers }) =>
    method === 'PUT' && headers['if-none-match'] !== undefined && path.endsWith(suffix);
}

/** Requests that carry what servers without flexible checksums refuse. */
export function usesChecksums({ headers }: ProxiedRequest): boolean {
  const names = Object.keys(headers);
  if (
    names.some(
      (name) =>
        name.startsWith('x-amz-checksum-') ||
        name === 'x-amz-trailer' ||
        name === 'x-amz-sdk-checksum-algorithm',
    )
  )
    return true;
  return String(headers['x-amz-content-sha256'] ?? '').endsWith('-TRAILER');
}

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders | Record<string, string>;
  readonly body: Buffer;
}

function errorReply({
  status,
  code,
  headers,
}: {
  status: number;
  code: string;
  headers?: Record<string, string>;
}): Reply {
  const body = Buffer.from(
    `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>Said by the fault proxy</Message></Error>`,
  );
  return {
    status,
    headers: { 'content-type': 'application/xml', 'content-length': String(body.length), ...headers },
    body,
  };
}

function send(out: ServerResponse, { status, headers, body }: Reply, method = 'GET'): void {
  if (out.destroyed) return;
  out.writeHead(status, headers as Record<string, string>);
  out.end(method === 'HEAD' ? undefined : body);
}

function truncate(out: ServerResponse, { status, headers, body }: Reply, method: string): void {
  if (out.destroyed || method === 'HEAD') {
    drop(out);
    return;
  }
  out.writeHead(status, headers as Record<string, string>);
  out.write(body.subarray(0, body.length >> 1), () => drop(out));
}

function drop(out: ServerResponse): void {
  out.socket?.destroy();
}
