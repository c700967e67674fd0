import { expect, test } from 'vitest';
import { LocalStore } from '../../../src/store/local.js';
import { MemoryStore } from '../../../src/store/memory.js';
import { openStore } from '../../../src/store/open.js';
import { probeStore } from '../../../src/store/probe.js';
import { S3Store } from '../../../src/store/s3.js';
import { isAwsEndpoint } from '../../../src/store/s3-client.js';
import { testContext } from '../../support/store-context.js';

const ctx = testContext();

test('the kind of store follows from the URL, and its URL is the canonical one', () => {
  expect(openStore('s3a://b/t//', ctx)).toBeInstanceOf(S3Store);
  expect(openStore('s3a://b/t//', ctx).url).toBe('s3://b/t');
  expect(openStore('/data/my table/', ctx)).toBeInstanceOf(LocalStore);
  expect(openStore('/data/my table/', ctx).url).toBe('file:///data/my%20table');
  expect(openStore('file:///data/my%20table', ctx).url).toBe('file:///data/my%20table');
  expect(openStore('memory://x', ctx)).toBeInstanceOf(MemoryStore);
  expect(openStore('/', ctx).url).toBe('file:///');
});

test('a memory URL is one place for the whole process', async () => {
  await openStore('memory://shared', ctx).put('a', new Uint8Array([1]));
  expect(await openStore('memory://shared/', testContext()).get('a')).toEqual(new Uint8Array([1]));
  expect(await openStore('memory://other', ctx).head('a')).toBeUndefined();
});

test('a store of S3 Express is not ordered', () => {
  expect(openStore('s3://logs--usw2-az1--x-s3/t', ctx).ordered).toBe(false);
  expect(openStore('s3://logs/t', ctx).ordered).toBe(true);
});

test('local and memory stores and AWS are trusted without a request', async () => {
  expect(await probeStore(openStore('memory://x', ctx))).toBe('trusted');
  expect(await probeStore(openStore('/nowhere', ctx))).toBe('trusted');
  const aws = openStore('s3://b/t', ctx, {
    s3: { region: 'eu-west-1', endpoint: 'https://s3.eu-west-1.amazonaws.com' },
  });
  expect(await probeStore(aws)).toBe('trusted');
  expect(ctx.requests().filter(({ store }) => store === 's3://b/t')).toEqual([]);
});

test('only the hosts of AWS count as AWS', () => {
  for (const host of [
    'https://s3.amazonaws.com',
    'https://bucket.vpce-1.s3.us-east-1.vpce.amazonaws.com',
    'https://s3.cn-north-1.amazonaws.com.cn',
    'https://s3.dualstack.eu-west-1.amazonaws.com:443/',
  ])
    expect(isAwsEndpoint(host)).toBe(true);
  for (const host of [
    'https://amazonaws.com.evil.example',
    'http://127.0.0.1:9000',
    'https://fakeamazonaws.com',
    'https://storage.googleapis.com',
    'https://minio',
  ])
    expect(isAwsEndpoint(host)).toBe(false);
});
