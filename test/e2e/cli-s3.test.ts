import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.js';
import { type S3Server, startS3Server } from '../support/s3-server.js';
import { tablectl } from '../support/tablectl.js';

const server: S3Server | undefined = await startS3Server();
let proxy: FaultProxy;

beforeAll(async () => {
  if (!server) return;
  proxy = await startFaultProxy(server);
  process.env.AWS_ACCESS_KEY_ID = server.credentials.accessKeyId;
  process.env.AWS_SECRET_ACCESS_KEY = server.credentials.secretAccessKey;
  process.env.AWS_REGION = server.region;
});
afterAll(async () => {
  await proxy?.stop();
  await server?.stop();
});

describe.skipIf(server === undefined)('tablectl on S3', () => {
  const bucket = server?.bucket ?? '';
  const at = (...args: string[]) => [...args, '--endpoint', proxy.endpoint];

  test('a lost reply to the commit is success, once', async () => {
    const url = `s3://${bucket}/lost`;
    expect(await tablectl(at('create', url, '--schema', 'id long'))).toMatchObject({ code: 0 });
    proxy.fault(
      ({ method, path }) => method === 'PUT' && path.endsWith('_delta_log/00000000000000000001.json'),
      { kind: 'dropReply' },
      1,
    );
    const ran = await tablectl(at('import', url, '-', '--format', 'ndjson', '--json'), {
      input: '{"id":1}\n',
    });
    proxy.clear();
    expect(ran.code, ran.stderr).toBe(0);
    expect(JSON.parse(ran.stdout)).toMatchObject({ status: 'committed', version: 1 });
    expect((await tablectl(at('cat', url, '--ndjson'))).stdout).toBe('{"id":1}\n');
  });

  test('a missing bucket says so, and nothing is created', async () => {
    const ran = await tablectl(at('create', 's3://no-such-bucket-here/t', '--schema', 'id long'));
    expect(ran).toMatchObject({ code: 1, stdout: '' });
    expect(ran.stderr).toMatch(/no-such-bucket-here/);
  });

  test('a server that ignores If-None-Match is refused unless nothing else writes', async () => {
    const url = `s3://${bucket}/unsafe`;
    const liar = await startFaultProxy(server!);
    try {
      liar.fault(({ method, headers }) => method === 'PUT' && headers['if-none-match'] !== undefined, {
        kind: 'ignoreCondition',
      });
      const endpoint = ['--endpoint', liar.endpoint];
      const ran = await tablectl(['create', url, '--schema', 'id long', ...endpoint, '--json']);
      expect(ran.code).toBe(1);
      expect(JSON.parse(ran.stdout)).toMatchObject({ error: { code: 'UNSAFE_STORE' } });
      expect(await tablectl(['info', url, ...endpoint])).toMatchObject({ code: 1 });
      const doctor = await tablectl(['doctor', url, ...endpoint]);
      expect(doctor.code).toBe(5);
      expect(doctor.stdout).toMatch(/conditionalWrites +failed/);
      expect(
        await tablectl(['create', url, '--schema', 'id long', '--single-writer', ...endpoint]),
      ).toMatchObject({ code: 0 });
    } finally {
      await liar.stop();
    }
  });
});
