import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Example,
  type ExampleFolder,
  examplesOf,
  openExampleFolder,
  promised,
  typeFaults,
} from '../support/examples.js';
import { type S3Server, startS3Server } from '../support/s3-server.js';

const run = promisify(execFile);

let folder: ExampleFolder;
let server: S3Server | undefined;
let environment: NodeJS.ProcessEnv;

beforeAll(async () => {
  folder = await openExampleFolder();
  server = await startS3Server();
  environment = { ...folder.environment, ...server?.environment };
});
afterAll(async () => {
  await server?.stop();
  await folder.remove();
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

async function runExample({ language, about, code }: Example, name: string): Promise<string> {
  const options = { cwd: folder.path, env: environment };
  if (language === 'sh') return (await run('sh', ['-e', '-c', code], options)).stdout;
  if (about?.endsWith('.ts')) {
    // A pipeline's file, for the commands that follow.
    await writeFile(join(folder.path, about), code);
    return '';
  }
  const path = join(folder.path, `${name}.mjs`);
  // Node 20 knows no `await using`; a runtime that is not closed does not keep the process alive.
  await writeFile(path, code.replaceAll('await using', 'const'));
  return (await run(process.execPath, [path], options)).stdout;
}

/** What an example prints has every line that it says it does. */
async function expectPromised(example: Example, name: string): Promise<void> {
  const out = (await runExample(example, name)).split('\n');
  const mark = example.language === 'sh' ? '# ' : '// ';
  for (const line of promised(example.code, mark)) expect(out, example.code).toContain(line);
}

describe('the examples of the README', () => {
  // One process an example line: many, where the machine is busy.
  test('run in order and print what they say', { timeout: 240_000 }, async () => {
    const all = (await examplesOf('README.md')).filter(
      ({ language, about }) => ['ts', 'sh'].includes(language) && about !== 's3',
    );
    expect(all.length).toBeGreaterThan(5);
    expect(all.flatMap(({ code }) => promised(code)).length).toBeGreaterThan(5);
    for (const [i, example] of all.entries()) await expectPromised(example, `example-${i}`);
  });

  test('have the types of the library', async () => {
    const typed = await openExampleFolder();
    for (const [i, { language, about, code }] of (await examplesOf('README.md')).entries())
      if (language === 'ts')
        await writeFile(join(typed.path, about?.endsWith('.ts') ? about : `${i}.ts`), code);
    const faults = await typeFaults(typed.path);
    await typed.remove();
    expect(faults).toBe('');
  });

  test('of S3 run against a server', async ({ skip }) => {
    if (server === undefined) return skip('no S3 server here');
    const all = (await examplesOf('README.md')).filter(({ about }) => about === 's3');
    expect(all).toHaveLength(2);
    for (const [i, example] of all.entries())
      await expectPromised({ ...example, code: await bucketFor(example.code) }, `s3-${i}`);
  });
});
