import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { accessSync, constants, existsSync } from 'node:fs';
import { mkdir, mkdtemp, open, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import type { S3Credentials, S3Options } from '../../src/store/s3-options.js';

/** A running S3 server, with a fresh bucket of this caller's own. */
export interface S3Server {
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: S3Credentials;
  readonly bucket: string;
  /** The same as options for a store or runtime; plain data, so that it can be handed to another process. */
  readonly options: S3Options & { readonly endpoint: string; readonly credentials: S3Credentials };
  /** The same for a process that takes its settings from the environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** Ends the server and removes its files; leaves an endpoint from the environment alone. */
  stop(): Promise<void>;
}

// The SDK's own switch for its warning about the age of Node.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

const MODULE = 'github.com/versity/versitygw/cmd/versitygw@v1.8.0';
const CACHE = fileURLToPath(new URL('../../.cache/bin', import.meta.url));
const BUILD_LIMIT_MS = 15 * 60_000;

/**
 * The S3 server of the tests: the endpoint in S3_TEST_ENDPOINT with the AWS_* credentials of the environment, else a `versitygw` from PATH or
 * from the project's cache folder, built into it by Go the first time. Undefined where none of these can be had, so that tests are skipped;
 * under CI that is an error. Verdicts of probes go to a cache folder of this process.
 */
export async function startS3Server(): Promise<S3Server | undefined> {
  const server = await findServer();
  if (!server) return undefined;
  const cache = await mkdtemp(join(tmpdir(), 'intervale-cache-'));
  process.env.XDG_CACHE_HOME = cache;
  return {
    ...server,
    stop: async () => {
      await server.stop();
      await rm(cache, { recursive: true, force: true });
    },
  };
}

async function findServer(): Promise<S3Server | undefined> {
  const given = process.env.S3_TEST_ENDPOINT;
  if (given)
    return serverAt(given, environmentCredentials(), process.env.AWS_REGION ?? 'us-east-1', async () => {});
  const binary = findOnPath('versitygw') ?? (await cachedBinary());
  if (binary) return startVersityGateway(binary);
  if (process.env.CI)
    throw new Error('CI needs an S3 server: set S3_TEST_ENDPOINT, or put versitygw or go on PATH.');
  return undefined;
}

async function startVersityGateway(binary: string): Promise<S3Server> {
  const folder = await mkdtemp(join(tmpdir(), 'intervale-s3-'));
  const credentials = { accessKeyId: `test-${randomUUID().slice(0, 8)}`, secretAccessKey: randomUUID() };
  const port = await freePort();
  const options = [
    '--port',
    `127.0.0.1:${port}`,
    '--access',
    credentials.accessKeyId,
    '--secret',
    credentials.secretAccessKey,
  ];
  const child = spawn(binary, [...options, '--keep-alive', '--quiet', 'posix', folder], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    said = (said + chunk).slice(-4_000);
  });
  const endNow = () => child.kill('SIGKILL');
  process.once('exit', endNow);
  const stop = async () => {
    process.off('exit', endNow);
    await ended(child);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await listening(port, child);
    return await serverAt(`http://127.0.0.1:${port}`, credentials, 'us-east-1', stop);
  } catch (error) {
    await stop();
    throw new Error(`versitygw did not start: ${said}`, { cause: error });
  }
}

async function serverAt(
  endpoint: string,
  credentials: S3Credentials,
  region: string,
  stop: () => Promise<void>,
): Promise<S3Server> {
  const bucket = `test-${randomUUID()}`;
  const client = new S3Client({ endpoint, region, credentials, forcePathStyle: true });
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  client.destroy();
  const options = { endpoint, region, credentials };
  const environment = {
    AWS_ENDPOINT_URL_S3: endpoint,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  };
  return { ...options, bucket, options, environment, stop };
}

function environmentCredentials(): S3Credentials {
  const {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
  } = process.env;
  if (!accessKeyId || !secretAccessKey)
    throw new Error('S3_TEST_ENDPOINT needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.');
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
}

function findOnPath(name: string): string | undefined {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const file = join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Not in this one.
    }
  }
  return undefined;
}

/** The binary in the cache folder, built there when it lacks; one process builds while the others wait for it. */
async function cachedBinary(): Promise<string | undefined> {
  const binary = join(CACHE, 'versitygw');
  if (existsSync(binary)) return binary;
  if (!findOnPath('go')) return undefined;
  await mkdir(CACHE, { recursive: true });
  const lock = join(CACHE, 'versitygw.lock');
  for (;;) {
    const handle = await open(lock, 'wx').catch(() => undefined);
    if (handle) {
      try {
        if (!existsSync(binary)) build();
        return existsSync(binary) ? binary : undefined;
      } finally {
        await handle.close();
        await rm(lock, { force: true });
      }
    }
    if (existsSync(binary)) return binary;
    const held = await stat(lock).catch(() => undefined);
    if (held && Date.now() - held.mtimeMs > BUILD_LIMIT_MS) await rm(lock, { force: true });
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** Go writes the binary under its final name only when it is complete. A build that fails leaves the reason on standard error. */
function build(): void {
  const env = { ...process.env, GOBIN: CACHE, CGO_ENABLED: '0' };
  try {
    execFileSync('go', ['install', MODULE], {
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
      timeout: BUILD_LIMIT_MS,
    });
  } catch (error) {
    process.stderr.write(`versitygw could not be built: ${error instanceof Error ? error.message : error}\n`);
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== 'object' || address === null) throw new Error('no port is free');
  return address.port;
}

async function listening(port: number, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 400; tries++) {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`);
    const answered = await fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    );
    if (answered) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('it did not listen');
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
}
