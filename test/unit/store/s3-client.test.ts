import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { S3Store } from '../../../src/store/s3.js';
import { connectS3 } from '../../../src/store/s3-client.js';
import { s3Settings } from '../../../src/store/s3-options.js';
import { testContext } from '../../support/store-context.js';

const connect = (options = {}) => connectS3(s3Settings(options));
let home = '';

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'intervale-aws-'));
  for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) vi.stubEnv(name, undefined);
  vi.stubEnv('AWS_CONFIG_FILE', join(home, 'config'));
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', join(home, 'credentials'));
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(home, { recursive: true });
});

describe('where requests go', () => {
  test('to AWS by default, with checksums on and no path style', async () => {
    const { endpoint, custom, region, client } = await connect({ region: 'eu-west-1' });
    expect({ endpoint, custom, region }).toEqual({ endpoint: 'AWS', custom: false, region: 'eu-west-1' });
    expect(await client.config.requestChecksumCalculation()).toBe('WHEN_SUPPORTED');
    expect(client.config.forcePathStyle).toBe(false);
    expect(await client.config.maxAttempts()).toBe(1);
  });

  test('to a custom endpoint with path style, us-east-1, and checksums only where required', async () => {
    const { endpoint, custom, region, client } = await connect({ endpoint: 'http://localhost:9000/' });
    expect({ endpoint, custom, region }).toEqual({
      endpoint: 'http://localhost:9000',
      custom: true,
      region: 'us-east-1',
    });
    expect(await client.config.requestChecksumCalculation()).toBe('WHEN_REQUIRED');
    expect(await client.config.responseChecksumValidation()).toBe('WHEN_REQUIRED');
    expect(client.config.forcePathStyle).toBe(true);
  });

  test('to what the environment says, the S3 variable before the common one', async () => {
    vi.stubEnv('AWS_ENDPOINT_URL', 'http://common:1');
    expect((await connect()).endpoint).toBe('http://common:1');
    vi.stubEnv('AWS_ENDPOINT_URL_S3', 'http://s3:2');
    vi.stubEnv('AWS_DEFAULT_REGION', 'eu-north-1');
    expect(await connect()).toMatchObject({ endpoint: 'http://s3:2', region: 'eu-north-1' });
    vi.stubEnv('AWS_REGION', 'eu-south-1');
    expect(await connect({ endpoint: 'http://given:3' })).toMatchObject({
      endpoint: 'http://given:3',
      region: 'eu-south-1',
    });
  });

  test('to what the profile says', async () => {
    await writeFile(
      join(home, 'config'),
      '[profile store]\nregion = eu-central-2\nendpoint_url = https://profile.example\n',
    );
    vi.stubEnv('AWS_PROFILE', 'store');
    expect(await connect()).toMatchObject({
      endpoint: 'https://profile.example',
      region: 'eu-central-2',
      custom: true,
    });
  });
});

test('equal settings share a connection, others do not', async () => {
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
  const provider = async () => credentials;
  const shared = await connect({ endpoint: 'http://x:1', credentials });
  expect(await connect({ endpoint: 'http://x:1', credentials: { ...credentials } })).toBe(shared);
  expect(await connect({ endpoint: 'http://x:1', credentials, retryForMs: 1 })).toBe(shared);
  expect(await connect({ endpoint: 'http://x:2', credentials })).not.toBe(shared);
  const provided = await connect({ endpoint: 'http://x:1', credentials: provider });
  expect(provided).not.toBe(shared);
  expect(await connect({ endpoint: 'http://x:1', credentials: provider })).toBe(provided);
  expect(await connect({ endpoint: 'http://x:1', credentials: async () => credentials })).not.toBe(provided);
});

test('no credentials is an error that says where they may come from, and no request', async () => {
  const ctx = testContext();
  const store = new S3Store(
    ctx,
    { bucket: 'b', prefix: 't' },
    { endpoint: 'http://127.0.0.1:9', retryForMs: 0 },
  );
  const said = { code: 'NO_CREDENTIALS', message: expect.stringContaining('AWS_ACCESS_KEY_ID') };
  await expect(store.get('f')).rejects.toMatchObject(said);
  await expect(store.putIfAbsent('f', new Uint8Array())).rejects.toMatchObject(said);
  await expect(store.describe()).rejects.toMatchObject(said);
  expect(ctx.requests()).toEqual([]);
});

test('the SDK warns of nothing, and its switch is left as it was', async () => {
  const warn = vi.spyOn(process, 'emitWarning');
  await connect({ endpoint: 'http://quiet:1' });
  expect(warn).not.toHaveBeenCalled();
  expect(process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED).toBeUndefined();
});

test('the SDK is imported for its types only, and loaded in one place', async () => {
  const folder = new URL('../../../src/', import.meta.url);
  const loading: string[] = [];
  for (const file of await readdir(folder, { recursive: true })) {
    if (!file.endsWith('.ts')) continue;
    const text = await readFile(new URL(file, folder), 'utf8');
    const imports = text.match(
      /^import (?!type )[^;]*'@(aws-sdk|smithy)\/|[^f] import\('@(aws-sdk|smithy)/gm,
    );
    if (imports) loading.push(file);
  }
  expect(loading).toEqual(['store/s3-client.ts']);
});
