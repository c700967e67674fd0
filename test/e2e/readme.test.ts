import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type S3Server, startS3Server } from '../support/s3-server.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);

interface Example {
  readonly language: string;
  readonly needsS3: boolean;
  readonly code: string;
}

async function examples(): Promise<Example[]> {
  const text = await readFile(join(ROOT, 'README.md'), 'utf8');
  return [...text.matchAll(/^```(\w+)( s3)?\n(.*?)^```$/gms)].map(([, language, s3, code]) => ({
    language: language!,
    needsS3: s3 !== undefined,
    code: code!,
  }));
}

/** What an example says it prints: the comments right behind code. Those behind an empty line are words. */
function promised(code: string): string[] {
  const lines = code.split('\n');
  return lines
    .filter((line, i) => line.startsWith('// ') && (lines[i - 1] ?? '') !== '')
    .map((line) => line.slice(3));
}

let folder: string;
let server: S3Server | undefined;
let environment: NodeJS.ProcessEnv;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'readme-'));
  await mkdir(join(folder, 'node_modules'));
  await symlink(ROOT, join(folder, 'node_modules/intervale'), 'dir');
  await mkdir(join(folder, 'bin'));
  await writeFile(
    join(folder, 'bin/tablectl'),
    `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, 'bin/tablectl.js')}" "$@"\n`,
  );
  await chmod(join(folder, 'bin/tablectl'), 0o755);
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  server = await startS3Server();
  environment = { ...process.env, PATH: `${join(folder, 'bin')}${delimiter}${process.env.PATH}` };
  if (server) {
    const { endpoint, region, credentials } = server;
    Object.assign(environment, {
      AWS_ENDPOINT_URL_S3: endpoint,
      AWS_REGION: region,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    });
  }
});
afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** A bucket of its own stands for the one that the README has. */
async function bucketFor(code: string): Promise<string> {
  const { bucket } = server!;
  const client = new S3Client({
    endpoint: server!.endpoint,
    region: server!.region,
    credentials: server!.credentials,
    forcePathStyle: true,
  });
  await client.send(new CreateBucketCommand({ Bucket: bucket })).catch(() => undefined);
  client.destroy();
  return code.replaceAll('s3://tables/', `s3://${bucket}/readme/`);
}

async function runExample({ language, code }: Example, name: string): Promise<string> {
  const options = { cwd: folder, env: environment };
  if (language === 'sh') return (await run('sh', ['-e', '-c', code], options)).stdout;
  const path = join(folder, `${name}.mjs`);
  // Node 20 knows no `await using`; a runtime that is not closed does not keep the process alive.
  await writeFile(path, code.replaceAll('await using', 'const'));
  return (await run(process.execPath, [path], options)).stdout;
}

describe('the examples of the README', () => {
  test('run in order and print what they say', async () => {
    const all = (await examples()).filter(
      ({ language, needsS3 }) => ['ts', 'sh'].includes(language) && !needsS3,
    );
    expect(all.length).toBeGreaterThan(5);
    expect(all.flatMap(({ code }) => promised(code)).length).toBeGreaterThan(5);
    for (const [i, example] of all.entries()) {
      const out = (await runExample(example, `example-${i}`)).split('\n');
      for (const line of promised(example.code)) expect(out, example.code).toContain(line);
    }
  });

  test('of S3 run against a server', async ({ skip }) => {
    if (server === undefined) return skip('no S3 server here');
    const all = (await examples()).filter(({ needsS3 }) => needsS3);
    expect(all).toHaveLength(2);
    for (const [i, example] of all.entries()) {
      const code = await bucketFor(example.code);
      const out = (await runExample({ ...example, code }, `s3-${i}`)).split('\n');
      for (const line of promised(code)) expect(out, code).toContain(line);
    }
  });
});
