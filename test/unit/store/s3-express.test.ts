import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { S3Store } from '../../../src/store/s3.js';
import { testContext } from '../../support/store-context.js';

/** A server that lists in no order, in two pages, whatever it is asked for. */
const asked: URL[] = [];
const http = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://server.example');
  asked.push(url);
  const second = url.searchParams.has('continuation-token');
  const keys = second
    ? ['t/_delta_log/01.json', 't/_delta_log/03.json']
    : ['t/_delta_log/04.json', 't/_delta_log/02.json', 't/_delta_log/x'];
  const contents = keys.map(
    (key) =>
      `<Contents><Key>${key}</Key><Size>3</Size><LastModified>2024-01-02T03:04:05.000Z</LastModified></Contents>`,
  );
  const more = second
    ? '<IsTruncated>false</IsTruncated>'
    : '<IsTruncated>true</IsTruncated><NextContinuationToken>more</NextContinuationToken>';
  response.setHeader('content-type', 'application/xml');
  response.end(`<?xml version="1.0"?><ListBucketResult>${more}${contents.join('')}</ListBucketResult>`);
});
let endpoint = '';

beforeAll(async () => {
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  endpoint = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
});
afterAll(() => {
  http.closeAllConnections();
  http.close();
});

test('a directory bucket is asked for whole folders without start-after, and filtered here', async () => {
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
  const store = new S3Store(
    testContext(),
    { bucket: 'logs--usw2-az1--x-s3', prefix: 't' },
    { endpoint, region: 'us-west-2', credentials },
  );
  const keys: string[] = [];
  for await (const page of store.list('_delta_log/0', { after: '_delta_log/01.json' }))
    keys.push(...page.map(({ key }) => key));
  expect(keys).toEqual(['_delta_log/04.json', '_delta_log/02.json', '_delta_log/03.json']);
  expect(asked).toHaveLength(2);
  for (const url of asked) {
    expect(url.searchParams.get('prefix')).toBe('t/_delta_log/');
    expect(url.searchParams.has('start-after')).toBe(false);
  }
});
