import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { isTableError } from '../../src/errors.js';
import { diagnoseStore } from '../../src/store/doctor.js';
import { S3Store } from '../../src/store/s3.js';
import type { S3Credentials, S3Options } from '../../src/store/s3-options.js';
import {
  conditionalPut,
  type FaultAction,
  type FaultProxy,
  startFaultProxy,
  usesChecksums,
} from '../support/fault-proxy.js';
import { type S3Server, startS3Server } from '../support/s3-server.js';
import { type StoreTestContext, testContext } from '../support/store-context.js';

const server = await startS3Server();
const LOG = '_delta_log/00000000000000000007.json';
const commit = new TextEncoder().encode('{"commitInfo":{"txnId":"x"}}\n');

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

describe.skipIf(!server)('S3Store behind a faulty network', () => {
  const { bucket, options } = server ?? ({} as S3Server);
  let proxy: FaultProxy;
  let ctx: StoreTestContext;
  let table = 0;

  const open = (more: S3Options = {}, name = `t${++table}`) => {
    ctx = testContext();
    return new S3Store(ctx, { bucket, prefix: name }, { ...proxy.options, ...more });
  };
  const direct = (name = `t${table}`) => new S3Store(testContext(), { bucket, prefix: name }, options);
  /** A store whose probe is behind it, so that counts and faults are about the put alone. */
  const openProbed = async (more: S3Options = {}) => {
    const store = open(more);
    await store.assertSafe();
    ctx.events.length = 0;
    return store;
  };

  beforeAll(async () => {
    proxy = await startFaultProxy(server as S3Server);
  });
  afterEach(() => proxy.clear());
  afterAll(async () => {
    await proxy?.stop();
    await server?.stop();
  });

  describe('putIfAbsent', () => {
    test('a reply lost after the put was applied is ambiguous, and the object is there', async () => {
      const store = await openProbed();
      proxy.fault(conditionalPut(LOG), { kind: 'dropReply' }, 1);
      expect(await store.putIfAbsent(LOG, commit)).toMatchObject({ outcome: 'ambiguous' });
      expect(await store.get(LOG)).toEqual(commit);
      expect(await store.putIfAbsent(LOG, commit)).toEqual({ outcome: 'exists' });
      expect(ctx.requests().map(({ operation, outcome }) => [operation, outcome])).toEqual([
        ['putIfAbsent', 'ambiguous'],
        ['get', 'ok'],
        ['putIfAbsent', 'exists'],
      ]);
    });

    test('a connection dropped before the put arrived is ambiguous, and nothing is there', async () => {
      const store = await openProbed();
      proxy.fault(conditionalPut(LOG), { kind: 'dropRequest' }, 1);
      expect(await store.putIfAbsent(LOG, commit)).toMatchObject({ outcome: 'ambiguous' });
      expect(await store.head(LOG)).toBeUndefined();
    });

    test('a 500 after the put was applied is tried again and says exists', async () => {
      const store = await openProbed();
      proxy.fault(conditionalPut(LOG), { kind: 'errorAfterApplying', status: 500, code: 'InternalError' }, 1);
      expect(await store.putIfAbsent(LOG, commit)).toEqual({ outcome: 'exists' });
      expect(await store.get(LOG)).toEqual(commit);
    });

    test('a put that lands after its timeout is ambiguous, and is there later', async () => {
      const store = await openProbed({ requestTimeoutMs: 300 });
      proxy.fault(conditionalPut(LOG), { kind: 'delay', ms: 2_500 }, 1);
      expect(await store.putIfAbsent(LOG, commit)).toMatchObject({
        outcome: 'ambiguous',
        cause: { code: 'STORE_TIMEOUT' },
      });
      expect(await store.head(LOG)).toBeUndefined();
      await proxy.settled();
      expect(await store.get(LOG)).toEqual(commit);
    });

    test('an abort while the put is out is ambiguous', async () => {
      const store = await openProbed();
      proxy.fault(conditionalPut(LOG), { kind: 'delay', ms: 300 }, 1);
      const signal = AbortSignal.timeout(100);
      expect(await store.putIfAbsent(LOG, commit, { signal })).toMatchObject({
        outcome: 'ambiguous',
        cause: { code: 'ABORTED' },
      });
      await proxy.settled();
      expect(await store.get(LOG)).toEqual(commit);
    });

    const again: [string, FaultAction, number][] = [
      [
        '409 ConditionalRequestConflict',
        { kind: 'answer', status: 409, code: 'ConditionalRequestConflict' },
        1,
      ],
      ['503 SlowDown three times', { kind: 'answer', status: 503, code: 'SlowDown' }, 3],
      ['400 RequestTimeout', { kind: 'answer', status: 400, code: 'RequestTimeout' }, 1],
      ['200 with an InternalError document', { kind: 'answer', status: 200, code: 'InternalError' }, 1],
    ];
    test.each(again)('%s is tried again on the same key', async (_, action, times) => {
      const store = await openProbed();
      proxy.fault(conditionalPut(LOG), action, times);
      expect(await store.putIfAbsent(LOG, commit)).toEqual({ outcome: 'created' });
      const retries = ctx.events.filter((event) => event.type === 'retry');
      expect(retries).toHaveLength(times);
      expect(retries[0]).toMatchObject({ operation: 'putIfAbsent', key: LOG, attempt: 1 });
      expect(ctx.requests()).toHaveLength(times + 1);
    });

    test.each([412, 200, 409, 500])(
      'the code PreconditionFailed with status %i says exists',
      async (status) => {
        const store = await openProbed();
        proxy.fault(conditionalPut(LOG), { kind: 'answer', status, code: 'PreconditionFailed' }, 1);
        expect(await store.putIfAbsent(LOG, commit)).toEqual({ outcome: 'exists' });
      },
    );

    test('501 NotImplemented is an error that says what the store cannot do', async () => {
      const store = await openProbed();
      proxy.fault(conditionalPut(LOG), { kind: 'answer', status: 501, code: 'NotImplemented' });
      await expect(store.putIfAbsent(LOG, commit)).rejects.toMatchObject({
        code: 'STORE_UNSUPPORTED',
        message: expect.stringContaining('does not support conditional create'),
      });
    });

    test('a refusal is thrown where nothing ambiguous came before, and is ambiguous where it did', async () => {
      const store = await openProbed();
      proxy.fault(conditionalPut(LOG), { kind: 'answer', status: 403, code: 'AccessDenied' }, 1);
      await expect(store.putIfAbsent(LOG, commit)).rejects.toMatchObject({
        code: 'PERMISSION_DENIED',
        message: expect.stringContaining('s3:PutObject'),
      });
      proxy.fault(conditionalPut(LOG), { kind: 'answer', status: 500, code: 'InternalError' }, 1);
      proxy.fault(conditionalPut(LOG), { kind: 'answer', status: 403, code: 'AccessDenied' }, 1);
      expect(await store.putIfAbsent(LOG, commit)).toMatchObject({
        outcome: 'ambiguous',
        cause: { code: 'PERMISSION_DENIED' },
      });
    });

    test('a server that fails for all of the time allowed is ambiguous', async () => {
      const store = await openProbed({ retryForMs: 300 });
      proxy.fault(conditionalPut(LOG), { kind: 'answer', status: 500, code: 'InternalError' });
      expect(await store.putIfAbsent(LOG, commit)).toMatchObject({
        outcome: 'ambiguous',
        cause: { code: 'STORE_FAILED' },
      });
    });
  });

  describe('the probe', () => {
    test('an honest server costs ten puts and two deletes, once', async () => {
      const store = open();
      await store.conditionalWrites({ force: true });
      const operations = ctx.requests().map(({ operation }) => operation);
      expect(operations.filter((operation) => operation === 'putIfAbsent')).toHaveLength(10);
      expect(operations.filter((operation) => operation === 'delete')).toHaveLength(2);
      expect(operations).toHaveLength(12);
      ctx.events.length = 0;
      expect(await store.putIfAbsent(LOG, commit)).toEqual({ outcome: 'created' });
      expect(ctx.requests()).toHaveLength(1);
    });

    test('a server that ignores If-None-Match is refused before anything is put, unless a single writer is stated', async () => {
      const lying = await startFaultProxy(server as S3Server);
      try {
        lying.fault(conditionalPut(), { kind: 'ignoreCondition' });
        const store = open({ endpoint: lying.endpoint });
        await expect(store.putIfAbsent(LOG, commit)).rejects.toMatchObject({ code: 'UNSAFE_STORE' });
        expect(lying.count(conditionalPut(LOG))).toBe(0);
        const listed = [];
        for await (const page of direct().list('')) listed.push(...page);
        expect(listed).toEqual([]);

        const alone = open({ endpoint: lying.endpoint, singleWriter: true });
        expect(await alone.putIfAbsent(LOG, commit)).toEqual({ outcome: 'created' });
        expect(await alone.putIfAbsent(LOG, bytesOf('other'))).toEqual({ outcome: 'exists' });
        expect(await alone.get(LOG)).toEqual(commit);
        expect(ctx.events.filter((event) => event.type === 'warning')).toHaveLength(1);
      } finally {
        await lying.stop();
      }
    });

    test('a server that knows no condition is refused, and serves a single writer', async () => {
      const old = await startFaultProxy(server as S3Server);
      try {
        old.fault(conditionalPut(), { kind: 'answer', status: 501, code: 'NotImplemented' });
        await expect(open({ endpoint: old.endpoint }).putIfAbsent(LOG, commit)).rejects.toMatchObject({
          code: 'STORE_UNSUPPORTED',
        });
        const alone = open({ endpoint: old.endpoint, singleWriter: true });
        expect(await alone.putIfAbsent(LOG, commit)).toEqual({ outcome: 'created' });
      } finally {
        await old.stop();
      }
    });

    test('credentials that may not probe are told which permission they need', async () => {
      const strict = await startFaultProxy(server as S3Server);
      try {
        strict.fault(({ path }) => path.includes('/_intervale/probe-'), {
          kind: 'answer',
          status: 403,
          code: 'AccessDenied',
        });
        await expect(open({ endpoint: strict.endpoint }).putIfAbsent(LOG, commit)).rejects.toMatchObject({
          code: 'PERMISSION_DENIED',
          message: expect.stringMatching(/s3:PutObject.*_intervale/),
        });
      } finally {
        await strict.stop();
      }
    });

    test('ambiguous answers are tried again with other keys', async () => {
      const flaky = await startFaultProxy(server as S3Server);
      try {
        flaky.fault(conditionalPut(), { kind: 'dropReply' }, 1);
        expect(await open({ endpoint: flaky.endpoint }).conditionalWrites()).toBe('honoured');
      } finally {
        await flaky.stop();
      }
    });
  });

  describe('servers that know no checksums', () => {
    test('put, multipart, get, ranges, listing and delete work with no flags', async () => {
      proxy.fault(usesChecksums, { kind: 'answer', status: 501, code: 'NotImplemented' });
      const store = open();
      expect(await store.putIfAbsent(LOG, commit)).toEqual({ outcome: 'created' });
      await store.put('a', commit);
      const large = new Uint8Array(9 << 20).fill(7);
      expect(
        await store.putStream(
          'large',
          (async function* () {
            yield large;
          })(),
        ),
      ).toBe(large.length);
      expect((await store.getRange('large', 5, 9)).length).toBe(4);
      expect((await store.getTail('large', 5)).size).toBe(large.length);
      for await (const page of store.list(''))
        expect(page.map(({ key }) => key)).toEqual([LOG, 'a', 'large']);
      await store.delete('large');
      expect(proxy.count(usesChecksums)).toBe(0);
    });
  });

  describe('large objects', () => {
    const size = 20 << 20;
    async function* source() {
      for (let i = 0; i < 20; i++) yield new Uint8Array(1 << 20).fill(i);
    }
    const isPart = ({ method, query }: { method: string; query: URLSearchParams }) =>
      method === 'PUT' && query.has('partNumber');
    const isCompletion = ({ method, query }: { method: string; query: URLSearchParams }) =>
      method === 'POST' && query.has('uploadId');
    const isAbort = ({ method, query }: { method: string; query: URLSearchParams }) =>
      method === 'DELETE' && query.has('uploadId');

    test('a part that meets a 503 is sent again, and the object is whole', async () => {
      const store = open();
      proxy.fault(isPart, { kind: 'answer', status: 503, code: 'SlowDown' }, 1);
      expect(await store.putStream('f', source())).toBe(size);
      expect((await store.get('f')).every((byte, i) => byte === i >> 20)).toBe(true);
      const operations = ctx.requests().map(({ operation }) => operation);
      expect(operations.filter((operation) => operation === 'putPart')).toHaveLength(4);
      expect(operations).toContain('completeMultipart');
    });

    test('a put of large bytes goes up in parts', async () => {
      const store = open();
      await store.put('f', new Uint8Array((64 << 20) + 1));
      expect((await store.head('f'))?.size).toBe((64 << 20) + 1);
      expect(ctx.requests().filter(({ operation }) => operation === 'putPart')).toHaveLength(9);
    });

    test('a completion that answers 200 with an error is sent again', async () => {
      const store = open();
      proxy.fault(isCompletion, { kind: 'answer', status: 200, code: 'InternalError' }, 1);
      expect(await store.putStream('f', source())).toBe(size);
      expect((await store.head('f'))?.size).toBe(size);
    });

    test('a completion whose reply is lost is found done', async () => {
      const store = open();
      proxy.fault(isCompletion, { kind: 'dropReply' }, 1);
      expect(await store.putStream('f', source())).toBe(size);
      expect((await store.head('f'))?.size).toBe(size);
    });

    test('a completion that keeps failing with status 200 is an error, and the upload is aborted', async () => {
      const store = open({ retryForMs: 200 });
      const aborted = proxy.count(isAbort);
      proxy.fault(isCompletion, { kind: 'answer', status: 200, code: 'InternalError' });
      await expect(store.putStream('f', source())).rejects.toMatchObject({ code: 'STORE_FAILED' });
      expect(proxy.count(isAbort)).toBe(aborted + 1);
      expect(await store.head('f')).toBeUndefined();
    });

    test('a part that is refused ends the upload, and leaves nothing', async () => {
      const store = open();
      const aborted = proxy.count(isAbort);
      proxy.fault(isPart, { kind: 'answer', status: 403, code: 'AccessDenied' }, 1);
      await expect(store.putStream('f', source())).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
      expect(proxy.count(isAbort)).toBe(aborted + 1);
      expect(await store.head('f')).toBeUndefined();
    });
  });

  describe('reads', () => {
    test('a body that breaks off is read again', async () => {
      const store = open();
      const content = new Uint8Array(300_000).fill(3);
      await store.put('f', content);
      proxy.fault(({ method }) => method === 'GET', { kind: 'truncateReply' }, 2);
      expect(await store.get('f')).toEqual(content);
      expect(ctx.requests().filter(({ outcome }) => outcome === 'failed')).toHaveLength(2);
    });

    test('a server that does not answer is a timeout after the time for retries', async () => {
      const store = open({ requestTimeoutMs: 100, retryForMs: 150 });
      proxy.fault(({ method }) => method === 'GET', { kind: 'delay', ms: 600 });
      await expect(store.get('f')).rejects.toMatchObject({ code: 'STORE_TIMEOUT', kind: 'retry' });
      proxy.clear();
      await proxy.settled();
    });

    test('an abort ends a read and its retries at once', async () => {
      const store = open();
      proxy.fault(({ method }) => method === 'GET', { kind: 'answer', status: 503, code: 'SlowDown' });
      const error = await store
        .get('f', { signal: AbortSignal.timeout(200) })
        .catch((caught: unknown) => caught);
      expect(isTableError(error, 'ABORTED')).toBe(true);
    });

    test('a server that takes no notice of ranges is cut to them', async () => {
      const store = open();
      await store.put('f', bytesOf('0123456789'));
      proxy.fault(({ headers }) => headers.range !== undefined, { kind: 'ignoreRange' });
      expect(await store.getRange('f', 2, 4)).toEqual(bytesOf('23'));
      expect(await store.getTail('f', 3)).toEqual({ bytes: bytesOf('789'), size: 10 });
    });
  });

  test('no more requests than sockets are out at once, and waiting for one is no timeout', async () => {
    const store = open({ maxSockets: 2, requestTimeoutMs: 1_500 });
    await store.put('f', commit);
    proxy.fault(({ method }) => method === 'GET', { kind: 'delay', ms: 400 });
    const started = performance.now();
    const all = await Promise.all(Array.from({ length: 10 }, () => store.get('f')));
    expect(all).toHaveLength(10);
    expect(performance.now() - started).toBeGreaterThan(1_900);
    expect(ctx.events.filter((event) => event.type === 'retry')).toEqual([]);
  });

  test('the doctor finds a healthy server healthy, and a lying one unsafe', async () => {
    const store = open();
    const report = await diagnoseStore(store, ctx);
    expect(report).toMatchObject({ ok: true, conditionalWrites: 'honoured', s3: { custom: true, bucket } });
    expect(report.latencyMs.put).toBeGreaterThan(0);
    for await (const page of store.list('')) expect(page).toEqual([]);
    proxy.fault(conditionalPut(), { kind: 'ignoreCondition' });
    const lying = await diagnoseStore(store, ctx);
    expect(lying.ok).toBe(false);
    expect(lying.checks.find(({ status }) => status === 'failed')).toMatchObject({
      name: 'conditionalWrites',
      code: 'UNSAFE_STORE',
    });
    for await (const page of store.list('')) expect(page).toEqual([]);
    proxy.clear();
    expect(await store.conditionalWrites({ force: true })).toBe('honoured');
  });

  describe('credentials and places', () => {
    const expired: FaultAction = { kind: 'answer', status: 400, code: 'ExpiredToken' };

    test('expired credentials are asked for once more', async () => {
      let asked = 0;
      const credentials = async (): Promise<S3Credentials> => {
        asked += 1;
        return options.credentials;
      };
      const store = open({ credentials });
      await store.put('f', commit);
      expect(asked).toBe(1);
      proxy.fault(({ method }) => method === 'GET', expired, 1);
      expect(await store.get('f')).toEqual(commit);
      expect(asked).toBe(2);
      proxy.fault(({ method }) => method === 'GET', expired);
      await expect(store.get('f')).rejects.toMatchObject({ code: 'NO_CREDENTIALS' });
      expect(asked).toBe(3);
    });

    test('unknown keys are said to be the server refusing them', async () => {
      const store = open({ credentials: { accessKeyId: 'nobody', secretAccessKey: 'nothing' } });
      await expect(store.get('f')).rejects.toMatchObject({ code: 'NO_CREDENTIALS' });
      await expect(store.head('f')).rejects.toMatchObject({ code: 'NO_CREDENTIALS' });
    });

    test('a bucket that is not there is not a missing object', async () => {
      const store = new S3Store(testContext(), { bucket: 'no-such-bucket-here', prefix: 't' }, options);
      const said = {
        code: 'STORE_FAILED',
        message: expect.stringContaining("no bucket 'no-such-bucket-here'"),
      };
      await expect(store.get('f')).rejects.toMatchObject(said);
      await expect(store.head('f')).rejects.toMatchObject(said);
      await expect(store.put('f', commit)).rejects.toMatchObject(said);
      await expect(store.list('').next()).rejects.toMatchObject(said);
    });

    test('a bucket elsewhere is said to be where it is', async () => {
      const store = open();
      proxy.fault(() => true, {
        kind: 'answer',
        status: 301,
        code: 'PermanentRedirect',
        headers: { 'x-amz-bucket-region': 'eu-west-1' },
      });
      await expect(store.get('f')).rejects.toMatchObject({
        code: 'STORE_FAILED',
        message: expect.stringContaining('AWS_REGION=eu-west-1'),
      });
    });

    test('an address where nothing listens fails in seconds', async () => {
      const store = open({ endpoint: 'http://127.0.0.1:9', retryForMs: 500 });
      await expect(store.get('f')).rejects.toMatchObject({
        code: 'STORE_FAILED',
        message: expect.stringContaining('could not be reached'),
      });
    });
  });

  describe('listing', () => {
    test('2,500 keys come in pages of a thousand, in order', async () => {
      const store = direct('listing');
      const names = Array.from({ length: 2_500 }, (_, i) => `_delta_log/${String(i).padStart(20, '0')}.json`);
      for (let i = 0; i < names.length; i += 100)
        await Promise.all(names.slice(i, i + 100).map((name) => store.put(name, commit)));
      const reader = open({}, 'listing');
      const sizes: number[] = [];
      const listed: string[] = [];
      for await (const page of reader.list('_delta_log/')) {
        sizes.push(page.length);
        listed.push(...page.map(({ key }) => key));
      }
      expect(listed).toEqual(names);
      expect(sizes).toEqual([1000, 1000, 500]);
      expect(ctx.requests().every(({ received }) => received > 0)).toBe(true);
      const rest: string[] = [];
      for await (const page of reader.list('_delta_log/', { after: names[1_998] ?? '' }))
        rest.push(...page.map(({ key }) => key));
      expect(rest).toEqual(names.slice(1_999));
    });
  });
});
