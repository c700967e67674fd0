import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tablectlProcess } from '../support/tablectl.js';

const COMMAND = fileURLToPath(new URL('../../bin/tablectl.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'tablectl-'));
const table = join(folder, 'numbers');

beforeAll(async () => {
  const rows = Array.from({ length: 20_000 }, (_, i) => `{"n":${i},"text":"row ${i}"}\n`).join('');
  const ran = await tablectlProcess(['import', table, '-', '--format', 'ndjson', '--create'], {
    input: rows,
  });
  expect(ran).toMatchObject({ code: 0, stderr: '' });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the command as a process', () => {
  test('prints its version, data on standard output alone, and ends', async () => {
    expect(await tablectlProcess(['--version'])).toEqual({ code: 0, stdout: '0.1.0\n', stderr: '' });
    const ran = await tablectlProcess(['info', table, '--json']);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(ran.stdout)).toMatchObject({ rows: 20_000 });
  });

  test('a reader that goes away is the end and no fault', async () => {
    const child = spawn('sh', [
      '-c',
      '"$0" "$1" cat "$2" --ndjson | head -n 1; echo "$?"',
      process.execPath,
      COMMAND,
      table,
    ]);
    let out = '';
    let err = '';
    child.stdout.on('data', (text) => {
      out += text;
    });
    child.stderr.on('data', (text) => {
      err += text;
    });
    await new Promise((resolve) => child.on('close', resolve));
    expect(out).toBe('{"n":0,"text":"row 0"}\n0\n');
    expect(err).toBe('');
  });

  test.each(['SIGINT', 'SIGTERM'] as const)(
    '%s stops an import with 130, and nothing is committed or left',
    async (signal) => {
      const target = join(folder, `interrupted-${signal}`);
      const child = spawn(process.execPath, [
        COMMAND,
        'import',
        target,
        '-',
        '--format',
        'csv',
        '--create',
        '--token',
        'a:1',
      ]);
      child.stdin.on('error', () => undefined);
      // More than a pipe holds: once it is taken, the process reads, and so listens. Standard input stays open, so it waits for more.
      const taken = new Promise((resolve) => child.stdin.write(`n\n${'x'.repeat(500_000)}\n`, resolve));
      let err = '';
      child.stderr.on('data', (text) => {
        err += text;
      });
      const ended = new Promise((resolve) => child.on('close', resolve));
      await taken;
      child.kill(signal);
      expect(await ended).toBe(130);
      expect(err).toMatch(/interrupted/);
      expect(existsSync(target)).toBe(false);
    },
  );

  test('an interrupt is not kept waiting by a server that does not answer', async () => {
    const silent = createServer();
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const endpoint = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const env = { ...process.env, AWS_ACCESS_KEY_ID: 'x', AWS_SECRET_ACCESS_KEY: 'x' };
    for (const args of [
      ['info', 's3://b/t'],
      ['import', 's3://b/t', '-', '--format', 'csv'],
    ]) {
      const connected = new Promise((resolve) => silent.once('connection', resolve));
      const child = spawn(process.execPath, [COMMAND, ...args, '--endpoint', endpoint], { env });
      const ended = new Promise((resolve) => child.on('close', resolve));
      await connected;
      child.kill('SIGINT');
      expect(await ended).toBe(130);
    }
    silent.close();
  });

  test('without credentials it says what to set, and nothing else', async () => {
    const env = {
      AWS_ACCESS_KEY_ID: '',
      AWS_SECRET_ACCESS_KEY: '',
      AWS_PROFILE: '',
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_CONFIG_FILE: join(folder, 'none'),
      AWS_SHARED_CREDENTIALS_FILE: join(folder, 'none'),
    };
    const ran = await tablectlProcess(['info', 's3://bucket/table', '--endpoint', 'http://127.0.0.1:9'], {
      env,
    });
    expect(ran.code).toBe(1);
    expect(ran.stdout).toBe('');
    expect(ran.stderr).toMatch(/^error: .*AWS_ACCESS_KEY_ID.*\n$/);
  });
});
