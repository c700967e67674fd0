import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { UnknownCommit } from '../../src/commit/resolve.js';
import {
  createRuntime,
  createTable,
  openTable,
  type Runtime,
  type Table,
  type TableError,
} from '../../src/index.js';
import { commitPath } from '../../src/log/paths.js';
import { type FaultProxy, type ProxiedRequest, startFaultProxy } from '../support/fault-proxy.js';
import { startS3Server } from '../support/s3-server.js';

const server = await startS3Server();

const commitPut =
  (version: number) =>
  ({ method, path }: ProxiedRequest): boolean =>
    method === 'PUT' && path.endsWith(commitPath(version));
const anyRead = ({ method }: ProxiedRequest): boolean => method === 'GET' || method === 'HEAD';
const dataFile = ({ path }: ProxiedRequest): boolean => path.endsWith('.parquet');
const ROWS = Array.from({ length: 10 }, (_, i) => ({ id: i }));

describe.skipIf(!server)('a commit on S3', () => {
  let proxy: FaultProxy;
  /** Sees the store as it is. */
  let honest: Runtime;
  /** Sees it through the proxy. */
  let runtime: Runtime;
  let table: Table;
  let url: string;
  let names = 0;

  beforeAll(async () => {
    proxy = await startFaultProxy(server!);
    honest = createRuntime({ s3: server!.options, workers: 1 });
  });
  afterAll(async () => {
    await honest?.close();
    await proxy?.stop();
    await server?.stop();
  });
  beforeEach(async () => {
    url = `s3://${server!.bucket}/faults-${names++}`;
    await createTable(url, { schema: 'id long', runtime: honest });
    runtime = createRuntime({
      s3: { ...proxy.options, requestTimeoutMs: 1_000, retryForMs: 3_000 },
      workers: 1,
    });
    table = await openTable(url, { runtime });
    // The probe of a custom endpoint comes before faults are set.
    await table.append([{ id: -1 }]);
  });
  afterEach(async () => {
    proxy.clear();
    await runtime.close();
  });

  async function truth(): Promise<{ version: number; ids: number[] }> {
    const snapshot = await (await openTable(url, { runtime: honest })).snapshot();
    const rows = await snapshot.scan().toArray();
    return { version: snapshot.version, ids: rows.map(({ id }) => Number(id)).sort((a, b) => a - b) };
  }
  const ONCE = { version: 2, ids: [-1, ...ROWS.map(({ id }) => id)] };

  test('whose reply is lost succeeds once', async () => {
    proxy.fault(commitPut(2), { kind: 'dropReply' }, 1);
    expect(await table.append(ROWS)).toMatchObject({ status: 'committed', version: 2 });
    expect(await truth()).toEqual(ONCE);
  });

  test('that is applied and answered with a 500 succeeds once', async () => {
    proxy.fault(commitPut(2), { kind: 'errorAfterApplying', status: 500, code: 'InternalError' }, 1);
    expect(await table.append(ROWS)).toMatchObject({ status: 'committed', version: 2 });
    expect(await truth()).toEqual(ONCE);
  });

  test('whose reply is lost, and that others have built on since, succeeds once', async () => {
    const other = await openTable(url, { runtime: honest });
    proxy.fault(commitPut(2), { kind: 'dropReply' }, 1);
    proxy.fault(
      ({ method, path }) => method === 'GET' && path.endsWith(commitPath(2)),
      { kind: 'delay', ms: 700 },
      1,
    );
    const append = table.append(ROWS);
    while (proxy.count(commitPut(2)) === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await other.append([{ id: 100 }])).toMatchObject({ version: 3 });
    expect(await append).toMatchObject({ status: 'committed', version: 2 });
    expect(await truth()).toEqual({ version: 3, ids: [...ONCE.ids, 100] });
  });

  test('that never reaches the server is sent again to the same version', async () => {
    proxy.fault(commitPut(2), { kind: 'dropRequest' }, 2);
    expect(await table.append(ROWS)).toMatchObject({ status: 'committed', version: 2 });
    expect(await truth()).toEqual(ONCE);
  });

  test('that lands ten seconds after its timeout succeeds once, with every file in place', async () => {
    proxy.fault(commitPut(2), { kind: 'delay', ms: 11_000 }, 1);
    expect(await table.append(ROWS)).toMatchObject({ status: 'committed', version: 2 });
    await proxy.settled();
    expect(await truth()).toEqual(ONCE);
  }, 60_000);

  test('answered by 409 and throttling goes to the same version', async () => {
    proxy.fault(commitPut(2), { kind: 'answer', status: 409, code: 'ConditionalRequestConflict' }, 1);
    proxy.fault(commitPut(2), { kind: 'answer', status: 503, code: 'SlowDown' }, 2);
    expect(await table.append(ROWS)).toMatchObject({ status: 'committed', version: 2 });
    expect(await truth()).toEqual(ONCE);
  });

  test('whose fate cannot be learned says so, deletes nothing, and can be asked about later', async () => {
    proxy.fault(commitPut(2), { kind: 'dropReply' });
    proxy.fault(anyRead, { kind: 'dropRequest' });
    const error = await table.append(ROWS, { retryFor: 1_500 }).catch((thrown: TableError) => thrown);
    expect(error).toMatchObject({ code: 'COMMIT_STATE_UNKNOWN', context: { url, version: 2 } });
    expect(proxy.count((request) => request.method === 'DELETE' && dataFile(request))).toBe(0);
    proxy.clear();
    expect(await table.resolve((error as TableError).context as unknown as UnknownCommit)).toBe('committed');
    expect(await truth()).toEqual(ONCE);
  });

  test('with a token, whose fate was not learned, is skipped by the rerun', async () => {
    const txn = { appId: 'job', version: 1 };
    proxy.fault(commitPut(2), { kind: 'dropReply' });
    proxy.fault(anyRead, { kind: 'dropRequest' });
    await expect(table.append(ROWS, { txn, retryFor: 1_500 })).rejects.toMatchObject({
      code: 'COMMIT_STATE_UNKNOWN',
    });
    proxy.clear();
    const again = await openTable(url, { runtime: honest });
    expect(await again.append(ROWS, { txn })).toMatchObject({ status: 'skipped' });
    expect(await truth()).toEqual(ONCE);
  });

  test('that is refused leaves no staged file behind', async () => {
    proxy.fault(commitPut(2), { kind: 'answer', status: 403, code: 'AccessDenied' });
    await expect(table.append(ROWS)).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
    const here = (request: ProxiedRequest): boolean =>
      dataFile(request) && `s3:/${request.path}`.startsWith(`${url}/`);
    expect(proxy.count((request) => request.method === 'PUT' && here(request))).toBe(2);
    expect(proxy.count((request) => request.method === 'DELETE' && here(request))).toBe(1);
    expect(await truth()).toEqual({ version: 1, ids: [-1] });
  });
});
