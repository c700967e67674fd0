// @ts-check
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { createServer as createSocket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const BIN = fileURLToPath(new URL('../.cache/bin/', import.meta.url));
const VERSITYGW = 'github.com/versity/versitygw/cmd/versitygw@v1.8.0';
const KEYS = { accessKeyId: 'bench-access', secretAccessKey: 'bench-secret' };
export const BUCKET = 'bench';

/**
 * A real S3 server on this machine over `folder`; objects lie there as files, so that tables can be copied in.
 * @param {string} folder
 */
export async function startServer(folder) {
  if (!existsSync(`${BIN}versitygw`)) {
    mkdirSync(BIN, { recursive: true });
    execFileSync('go', ['install', VERSITYGW], {
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, GOBIN: BIN },
    });
  }
  mkdirSync(`${folder}/${BUCKET}`, { recursive: true });
  const port = await freePort();
  // S3 keeps connections open, which this server does only when told.
  const child = spawn(`${BIN}versitygw`, ['--port', `127.0.0.1:${port}`, '--keep-alive', 'posix', folder], {
    stdio: 'ignore',
    env: { ...process.env, ROOT_ACCESS_KEY: KEYS.accessKeyId, ROOT_SECRET_KEY: KEYS.secretAccessKey },
  });
  const endpoint = `http://127.0.0.1:${port}`;
  for (let tries = 0; ; tries++) {
    try {
      await (await fetch(endpoint)).arrayBuffer();
      break;
    } catch (error) {
      if (tries === 100) throw error;
      await sleep(50);
    }
  }
  return {
    endpoint,
    stop: async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill();
      await ended;
    },
  };
}

/** The same server's settings for both sides. @param {string} endpoint */
export function settingsOf(endpoint) {
  return {
    s3: { endpoint, region: 'us-east-1', credentials: KEYS },
    storage: {
      AWS_ENDPOINT_URL: endpoint,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: KEYS.accessKeyId,
      AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
      AWS_ALLOW_HTTP: 'true',
      aws_conditional_put: 'etag',
    },
  };
}

/**
 * A proxy that counts what passes, and the bytes of the answers, for sides that do not count themselves. Signatures hold, since the Host header is passed on as it came
 * and the server checks it as it was signed.
 * @param {string} endpoint
 */
export async function startCounter(endpoint) {
  /** @type {{ method: string, path: string, bytes: number, start: number, end: number }[]} */
  let seen = [];
  const { hostname, port } = new URL(endpoint);
  const server = createServer((incoming, answer) => {
    const entry = {
      method: incoming.method ?? '',
      path: incoming.url ?? '',
      bytes: 0,
      start: performance.now(),
      end: 0,
    };
    seen.push(entry);
    const { method, url: path, headers } = incoming;
    const onward = request({ hostname, port, method, path, headers }, (reply) => {
      answer.writeHead(reply.statusCode ?? 502, reply.rawHeaders);
      reply.on('data', (chunk) => {
        entry.bytes += chunk.length;
      });
      reply.pipe(answer);
      reply.on('end', () => {
        entry.end = performance.now();
      });
    });
    onward.on('error', () => answer.destroy());
    incoming.pipe(onward);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    /** What was counted since the last call. */
    take: () => {
      const taken = seen;
      seen = [];
      const bytes = taken.reduce((sum, entry) => sum + entry.bytes, 0);
      return { requests: taken.length, bytes, depth: depthOf(taken), list: taken };
    },
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** The longest chain of requests of which each began after the one before had ended. @param {{ start: number, end: number }[]} requests */
function depthOf(requests) {
  let depth = 0;
  let free = 0;
  for (const { start, end } of [...requests].sort((a, b) => a.end - b.end)) {
    if (start < free) continue;
    depth++;
    free = end;
  }
  return depth;
}

/** @returns {Promise<number>} */
function freePort() {
  return new Promise((resolve) => {
    const socket = createSocket();
    socket.listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (socket.address());
      socket.close(() => resolve(port));
    });
  });
}
