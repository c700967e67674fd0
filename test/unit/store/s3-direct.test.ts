import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { S3Store } from '../../../src/store/s3.js';
import type { S3Options } from '../../../src/store/s3-options.js';
import { testContext } from '../../support/store-context.js';

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

interface Answer {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body: string;
}

/** What was asked, and what the next requests are answered; without that, the object's bytes. */
let asked: Asked[] = [];
let answers: Answer[] = [];
const http = createServer((request, response) => {
  asked.push({ method: request.method!, path: request.url!, headers: request.headers });
  request.resume().on('end', () => {
    const { status, headers, body } = answers.shift() ?? { status: 200, body: 'bytes' };
    response.writeHead(status, headers).end(body);
  });
});
let endpoint = '';

beforeAll(async () => {
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  endpoint = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
});
beforeEach(() => {
  asked = [];
  answers = [];
});
afterAll(() => {
  http.closeAllConnections();
  http.close();
});

let regions = 0;
/** A store whose connection no other test has used. */
function open(more: S3Options = {}): S3Store {
  const region = `test-${regions++}`;
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b', sessionToken: 'c' };
  return new S3Store(
    testContext(),
    { bucket: 'bucket', prefix: 'a table' },
    { endpoint, region, credentials, ...more },
  );
}

const document = (code: string, more = ''): string =>
  `<?xml version="1.0"?><Error><Code>${code}</Code><Message>one &lt;two&gt; &amp;amp;</Message>${more}</Error>`;

/** The parts of a request that do not change from one to the next. The SDK names its operation in the query, which servers take no notice of. */
function shape({ method, path, headers }: Asked): unknown {
  const { authorization, range, host } = headers;
  const scope = /Credential=a\/\d{8}\/([^,]*)/.exec(authorization!)![1];
  const kept = Object.entries(headers).filter(([name]) =>
    /^(x-amz-(security|content|server|storage|request)|if-none|content-|user-agent)/.test(name),
  );
  return {
    method,
    path: path.replace(/\?x-id=\w+$/, ''),
    range,
    host,
    scope,
    kept: Object.fromEntries(kept),
  };
}

test.each(['plain', 'a//b/', "p=1%2F2 c%25!'()*+&?#=~/é😀"])(
  'the second request for %s asks for the same as the SDK in the first',
  async (key) => {
    const store = open({ requestPayer: true });
    await store.getRange(key, 2, 5);
    await store.getRange(key, 2, 5);
    expect(asked).toHaveLength(2);
    expect(asked[0]!.headers['amz-sdk-request']).toBeDefined();
    expect(asked[1]!.headers['amz-sdk-request']).toBeUndefined();
    expect(shape(asked[1]!)).toEqual(shape(asked[0]!));
  },
);

test('the second put says what the SDK says in the first', async () => {
  const store = open({ serverSideEncryption: 'aws:kms', kmsKeyId: 'key', storageClass: 'STANDARD_IA' });
  await store.put('k', new Uint8Array(3));
  await store.put('k', new Uint8Array(3));
  expect(asked).toHaveLength(2);
  expect(shape(asked[1]!)).toEqual(shape(asked[0]!));
});

test('a refusal has its code, message, status and region, first by the SDK and then without', async () => {
  const store = open({ retryForMs: 0 });
  const refused = { status: 403, body: document('AccessDenied') };
  const elsewhere = {
    status: 301,
    headers: { 'x-amz-bucket-region': 'eu-south-2' },
    body: document('PermanentRedirect'),
  };
  for (const answer of [refused, elsewhere]) {
    const errors: unknown[] = [];
    for (let i = 0; i < 3; i++) {
      answers = [answer];
      errors.push(await store.get('k').catch(({ code, message, context }) => ({ code, message, context })));
    }
    expect(errors[1]).toEqual(errors[0]);
    expect(errors[2]).toEqual(errors[0]);
  }
});

test('an answer without a document goes by its status', async () => {
  const store = open({ retryForMs: 0 });
  await store.get('k');
  answers = [{ status: 404, body: '' }];
  await expect(store.get('k')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  answers = [{ status: 500, body: 'oh' }];
  await expect(store.get('k')).rejects.toMatchObject({ code: 'STORE_FAILED', context: { status: 500 } });
});

test('an error document that comes with success fails a put', async () => {
  const store = open({ retryForMs: 0 });
  await store.put('k', new Uint8Array(3));
  answers = [{ status: 200, body: document('InternalError') }];
  await expect(store.put('k', new Uint8Array(3))).rejects.toMatchObject({
    code: 'STORE_FAILED',
    context: { fault: 'InternalError' },
  });
});

test.each(['RequestTimeTooSkewed', 'SignatureDoesNotMatch', 'AccessDenied'])(
  'a clock that is wrong is set by the answer %s, and the request signed again',
  async (code) => {
    const store = open();
    await store.get('k');
    answers = [{ status: 403, headers: { date: 'Sat, 01 Jan 2028 00:00:00 GMT' }, body: document(code) }];
    await store.get('k');
    expect(asked[2]!.headers['x-amz-date']).toMatch(/^20280101T0000/);
  },
);

test('the time that a cache answers with sets no clock', async () => {
  const store = open();
  await store.get('k');
  const headers = { date: 'Sat, 01 Jan 2028 00:00:00 GMT', age: '60' };
  answers = [{ status: 403, headers, body: document('AccessDenied') }];
  await store.get('k');
  expect(asked[2]!.headers['x-amz-date']).not.toMatch(/^2028/);
});

test('an address with a path of its own keeps it', async () => {
  const store = open({ endpoint: `${endpoint}/gateway/s3/` });
  await store.get('k');
  await store.get('k');
  expect(asked[1]!.path).toBe('/gateway/s3/bucket/a%20table/k');
  expect(shape(asked[1]!)).toEqual(shape(asked[0]!));
});

test('credentials that have expired are asked for once more, and sign what follows', async () => {
  let given = 0;
  const credentials = async () => ({ accessKeyId: 'a', secretAccessKey: 'b', sessionToken: `t${++given}` });
  const store = open({ credentials });
  await store.get('k');
  answers = [{ status: 400, body: document('ExpiredToken') }];
  await store.get('k');
  await store.put('k', new Uint8Array(3));
  expect(asked.map(({ headers }) => headers['x-amz-security-token'])).toEqual(['t1', 't1', 't2', 't2']);
  expect(given).toBe(2);
});

test('a server that asks to slow down is asked again', async () => {
  const store = open();
  await store.get('k');
  answers = [{ status: 503, body: document('SlowDown') }];
  expect(await store.get('k')).toHaveLength(5);
  expect(asked).toHaveLength(3);
});
