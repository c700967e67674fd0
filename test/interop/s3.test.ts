import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRuntime, createTable, parseDdl, type Runtime } from '../../src/index.js';
import { type S3Server, startS3Server } from '../support/s3-server.js';
import { ownLines, rowOf, schemaOf, shared, sorted } from './engines.js';
import { HARD_STRINGS, linesOf, WRITTEN_BY_OTHERS } from './values.js';

const { engines } = shared();
const schema = parseDdl('id int, c string');
const delta = schemaOf(schema);
const rows = (lines: readonly string[]) => lines.map((line) => rowOf(line, schema));

let server: S3Server | undefined;
let runtime: Runtime;
let storage: Record<string, string>;

beforeAll(async () => {
  server = await startS3Server();
  if (!server) return;
  runtime = createRuntime({ s3: server.options });
  storage = {
    AWS_ENDPOINT_URL: server.endpoint,
    AWS_REGION: server.region,
    AWS_ACCESS_KEY_ID: server.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: server.credentials.secretAccessKey,
    AWS_ALLOW_HTTP: 'true',
    aws_conditional_put: 'etag',
  };
}, 15 * 60_000);

afterAll(async () => {
  await runtime?.close();
  await server?.stop();
});

describe('delta-rs on the same table on S3', () => {
  it('reads what was written here, hard partition values too, and its appends are read here', async ({
    skip,
  }) => {
    if (!server) return skip('no S3 server');
    const url = `s3://${server.bucket}/shared table`;
    const table = await createTable(url, { schema, partitionBy: ['c'], runtime });
    const lines = linesOf(HARD_STRINGS);
    await table.append(rows(lines));
    const read = async () => sorted((await engines.ask('deltars.read', { url, storage })).lines);
    expect(await read()).toEqual(sorted(lines));

    const more = linesOf(WRITTEN_BY_OTHERS, 100);
    await engines.ask('deltars.write', { url, schema: delta, lines: more, storage });
    expect(await ownLines(table)).toEqual(sorted([...lines, ...more]));

    const again = linesOf(HARD_STRINGS, 1000);
    const { removed } = await table.overwritePartitions(rows(again));
    expect(removed.files).toBe(lines.length + more.length);
    expect(await read()).toEqual(sorted(again));
    await table.checkpoint();
    expect(await read()).toEqual(sorted(again));
  });

  it('races with writers here, and no commit is lost', async ({ skip }) => {
    if (!server) return skip('no S3 server');
    const url = `s3://${server.bucket}/race`;
    const table = await createTable(url, { schema, runtime });
    const turns = Array.from({ length: 20 }, (_, i) => i);
    const ours = (async () => {
      for (const i of turns) await table.append(rows([`{"id":${i},"c":"ours"}`]));
    })();
    const theirs = (async () => {
      for (const i of turns) {
        await engines.ask('deltars.write', {
          url,
          schema: delta,
          lines: [`{"id":${i},"c":"theirs"}`],
          storage,
        });
      }
    })();
    await Promise.all([ours, theirs]);
    const expected = turns.flatMap((i) => [`{"id":${i},"c":"ours"}`, `{"id":${i},"c":"theirs"}`]);
    expect(await ownLines(table)).toEqual(sorted(expected));
    expect((await table.snapshot()).version).toBe(turns.length * 2);
  });
});
