import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { isTableError } from '../../src/errors.js';
import { parseCommit, serializeActions } from '../../src/log/action-lines.js';
import type { MetadataAction, ProtocolAction } from '../../src/log/actions.js';
import { assertReadable, assertWritable, blockers } from '../../src/log/features.js';
import { readHistory } from '../../src/log/history.js';
import { parseJson, stringifyJson } from '../../src/log/json.js';
import { serializeLastCheckpoint } from '../../src/log/last-checkpoint.js';
import { assertProperties, tableProperties } from '../../src/log/properties.js';
import { listSegment } from '../../src/log/segment.js';
import { parseTimestampArgument, timestampToVersion } from '../../src/log/time-travel.js';
import { MemoryObjects, MemoryStore } from '../../src/store/memory.js';
import type { Store } from '../../src/store/store.js';
import { FakeClock, fakeContext } from '../support/fake-context.js';

async function cases<T>(name: string): Promise<(T & { name: string })[]> {
  const text = await readFile(new URL(`../../spec/cases/log/${name}.json`, import.meta.url), 'utf8');
  return JSON.parse(text).cases;
}

const encode = (text: string) => new TextEncoder().encode(text);

function codeOf(error: unknown): string {
  return isTableError(error) ? error.code : (error as Error).name;
}

describe('json', async () => {
  interface Case {
    text?: string;
    repeat?: {
      open: string;
      close: string;
      times: number;
      inner?: string;
      innerTimes?: number;
      last?: string;
    };
    written?: string;
    error?: string;
  }
  test.each(await cases<Case>('json'))('$name', ({ text, repeat, written, error }) => {
    const input = repeat
      ? repeat.open.repeat(repeat.times) +
        (repeat.inner ?? '').repeat(repeat.innerTimes ?? 0) +
        (repeat.last ?? '') +
        repeat.close.repeat(repeat.times)
      : text!;
    if (error) {
      expect(() => parseJson(input)).toThrow(expect.toSatisfy((thrown) => codeOf(thrown) === error));
      return;
    }
    const output = stringifyJson(parseJson(input));
    expect(output).toBe(written ?? input);
    expect(stringifyJson(parseJson(output))).toBe(output);
  });
});

describe('commits', async () => {
  interface Case {
    text?: string;
    base64?: string;
    pathLength?: number;
    actions?: unknown[];
    written?: string;
    error?: string;
  }
  const where = { version: 7, file: '_delta_log/00000000000000000007.json' };
  test.each(await cases<Case>('commits'))(
    '$name',
    ({ text, base64, pathLength, actions, written, error }) => {
      const bytes = base64
        ? Uint8Array.from(Buffer.from(base64, 'base64'))
        : encode(pathLength ? `{"remove":{"path":"${'x'.repeat(pathLength)}"}}` : text!);
      if (error) {
        expect(() => parseCommit(bytes, where)).toThrow(
          expect.toSatisfy((thrown) => codeOf(thrown) === error && thrown.message.includes(where.file)),
        );
        return;
      }
      const parsed = parseCommit(bytes, where);
      if (actions) expect(withTextBigints(parsed)).toEqual(actions);
      if (written !== undefined) expect(new TextDecoder().decode(serializeActions(parsed))).toBe(written);
      expect(parseCommit(serializeActions(parsed), where)).toHaveLength(parsed.length);
    },
  );
});

/** JSON cases cannot hold bigints, so they spell them `1n`. */
function withTextBigints(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_, member) => (typeof member === 'bigint' ? `${member}n` : member)),
  );
}

describe('protocols', async () => {
  interface Case {
    protocol: ProtocolAction;
    configuration?: Record<string, string>;
    fieldMetadata?: Record<string, unknown>;
    nested?: boolean;
    type?: string;
    read?: string[];
    write?: string[];
    error?: string;
  }
  test.each(await cases<Case>('protocols'))(
    '$name',
    ({ protocol, configuration = {}, fieldMetadata = {}, nested, type = 'long', read, write, error }) => {
      const field = { name: 'a', type, nullable: true, metadata: fieldMetadata };
      const struct = { type: 'struct', fields: [field] };
      const fields = nested
        ? [
            {
              name: 'n',
              type: { type: 'array', elementType: struct, containsNull: true },
              nullable: true,
              metadata: {},
            },
          ]
        : [field];
      const metadata: MetadataAction = {
        ...METADATA,
        configuration,
        schemaString: JSON.stringify({ type: 'struct', fields }),
      };
      if (error) {
        expect(() => assertReadable(protocol, metadata, 'memory://t')).toThrow(
          expect.objectContaining({ code: error }),
        );
        return;
      }
      const found = blockers(protocol, metadata);
      expect(found.filter(({ blocks }) => blocks !== 'write').map(({ feature }) => feature)).toEqual(read);
      expect(found.map(({ feature }) => feature)).toEqual(write);
      for (const [assertion, names] of [
        [assertReadable, read!],
        [assertWritable, write!],
      ] as const) {
        if (names.length === 0) assertion(protocol, metadata, 'memory://t');
        else
          expect(() => assertion(protocol, metadata, 'memory://t')).toThrow(
            expect.toSatisfy(
              (thrown) =>
                codeOf(thrown) === 'UNSUPPORTED_FEATURE' &&
                names.every((name) => thrown.message.includes(name)),
            ),
          );
      }
    },
  );
});

const METADATA: MetadataAction = {
  id: 'i',
  format: { provider: 'parquet', options: {} },
  schemaString: '{"type":"struct","fields":[]}',
  partitionColumns: [],
  configuration: {},
};

describe('segments', async () => {
  interface Case {
    files: string[];
    version?: number;
    exclude?: string[];
    segment?: { version: number; checkpoint?: string; commits: string[] };
    warnings?: string[];
    requests?: number;
    error?: string;
    names?: string[];
  }
  test.each(await cases<Case>('segments'))(
    '$name',
    async ({ files, version, exclude, segment, warnings = [], requests, error, names = [] }) => {
      const ctx = fakeContext();
      const store = new MemoryStore(ctx);
      for (const [key, content] of files.flatMap(expand)) await store.put(key, content);
      ctx.events.length = 0;
      const options = { version, exclude: exclude && new Set(exclude.map((name) => expand(name)[0]![0])) };
      if (error) {
        const thrown = await listSegment(store, ctx, options).then(
          () => expect.fail('it was loaded'),
          (reason) => reason,
        );
        expect(codeOf(thrown)).toBe(error);
        for (const name of names)
          expect(thrown.message).toContain(/^\d+\.cp/.test(name) ? expand(name)[0]![0] : name);
        return;
      }
      const found = await listSegment(store, ctx, options);
      expect(found.version).toBe(segment!.version);
      expect(found.checkpoint?.files[0]?.key).toBe(segment!.checkpoint && expand(segment!.checkpoint)[0]![0]);
      expect(found.commits.map(({ key }) => key)).toEqual(
        segment!.commits.map((name) => expand(name)[0]![0]),
      );
      const warned = ctx.events.flatMap((event) => (event.type === 'warning' ? [event.file] : []));
      expect(warned).toEqual(warnings.map((name) => expand(name)[0]![0]));
      if (requests !== undefined)
        expect(ctx.events.filter(({ type }) => type === 'request')).toHaveLength(requests);
    },
  );
});

/** The short form of file names that spec/cases/log/segments.json explains. */
function expand(entry: string): [key: string, content: Uint8Array][] {
  const [name = '', text] = entry.split(/=(.*)/s);
  const content = encode(text === '0' ? '' : (text ?? `{"commitInfo":{"filler":"${'x'.repeat(100)}"}}`));
  const pad = (version: string) => `_delta_log/${version.padStart(20, '0')}`;
  const range = /^(\d+)\.\.(\d+)$/.exec(name);
  if (range) {
    const [first, last] = [Number(range[1]), Number(range[2])];
    return Array.from({ length: last - first + 1 }, (_, i) => [`${pad(String(first + i))}.json`, content]);
  }
  if (/^\d{1,19}$/.test(name)) return [[`${pad(name)}.json`, content]];
  const hint = /^hint:(\d+)$/.exec(name);
  if (hint)
    return [['_delta_log/_last_checkpoint', serializeLastCheckpoint({ version: Number(hint[1]), size: 1 })]];
  const compacted = /^(\d+)-(\d+)\.compacted$/.exec(name);
  if (compacted)
    return [[`${pad(compacted[1]!)}.${compacted[2]!.padStart(20, '0')}.compacted.json`, content]];
  const checkpoint = /^(\d+)\.cp(?::(.+))?$/.exec(name);
  if (!checkpoint)
    return [
      [/^\d{1,19}\.crc$/.test(name) ? `${pad(name.replace('.crc', ''))}.crc` : `_delta_log/${name}`, content],
    ];
  const [, version = '', form] = checkpoint;
  if (form === undefined) return [[`${pad(version)}.checkpoint.parquet`, content]];
  const part = /^(\d+)\/(\d+)$/.exec(form);
  const middle = part
    ? part
        .slice(1)
        .map((n) => n.padStart(10, '0'))
        .join('.')
    : '80a083e8-7026-4e79-81be-64bd76c43a11';
  return [[`${pad(version)}.checkpoint.${middle}.${part ? 'parquet' : form}`, content]];
}

describe('times', async () => {
  interface Case {
    commits?: [number, number, number | null][];
    checkpoints?: [number, number][];
    configuration?: Record<string, string>;
    asks?: { at: number; version?: number; error?: string; names?: string[] }[];
    history?: [number, number][];
    texts?: Record<string, number | null>;
  }
  test.each(await cases<Case>('times'))(
    '$name',
    async ({ commits = [], checkpoints = [], configuration = {}, asks = [], history, texts = {} }) => {
      for (const [text, ms] of Object.entries(texts)) {
        if (ms === null)
          expect(() => parseTimestampArgument(text), text).toThrow(
            expect.objectContaining({ code: 'INVALID_INPUT' }),
          );
        else expect(parseTimestampArgument(text), text).toBe(ms);
      }
      const store = dated(commits, checkpoints);
      const ctx = fakeContext(new FakeClock(1_000_000));
      const metadata = { ...METADATA, configuration };
      for (const { at, version, error, names = [] } of asks) {
        const found = timestampToVersion(store, ctx, at, metadata);
        if (version !== undefined) expect(await found, String(at)).toBe(version);
        else
          await expect(found, String(at)).rejects.toSatisfy(
            (thrown: Error) =>
              codeOf(thrown) === error && names.every((name) => thrown.message.includes(name)),
          );
      }
      if (!history) return;
      const entries: [number, number][] = [];
      for await (const entry of readHistory(store, { metadata }))
        entries.push([entry.version, entry.timestamp]);
      expect(entries).toEqual(history);
    },
  );
});

function dated(
  commits: readonly [number, number, number | null][],
  checkpoints: readonly [number, number][],
): Store {
  const objects = new MemoryObjects();
  const pad = (version: number) => `_delta_log/${String(version).padStart(20, '0')}`;
  for (const [version, modifiedAt, inCommitTimestamp] of commits) {
    const commitInfo = inCommitTimestamp === null ? { timestamp: modifiedAt } : { inCommitTimestamp };
    objects.set(`${pad(version)}.json`, encode(`${JSON.stringify({ commitInfo })}\n`), modifiedAt);
  }
  for (const [version, modifiedAt] of checkpoints)
    objects.set(`${pad(version)}.checkpoint.parquet`, encode('x'.repeat(100)), modifiedAt);
  return new MemoryStore(fakeContext(), 'memory://t', objects);
}

describe('properties', async () => {
  interface Case {
    configuration: Record<string, string>;
    properties?: Record<string, unknown>;
    bad?: string;
    refused?: string;
  }
  test.each(await cases<Case>('properties'))('$name', ({ configuration, properties, bad, refused }) => {
    if (refused) {
      expect(() => assertProperties(configuration)).toThrow(expect.objectContaining({ code: refused }));
      return;
    }
    const found = tableProperties(configuration);
    const readAll = () => Object.fromEntries(Object.entries(found));
    if (bad) {
      for (const check of [readAll, () => assertProperties(configuration)]) {
        expect(check).toThrow(
          expect.toSatisfy(
            (thrown) => codeOf(thrown) === 'INVALID_INPUT' && thrown.message.includes(`'${bad}'`),
          ),
        );
      }
      return;
    }
    expect(readAll()).toMatchObject(properties!);
    assertProperties(configuration);
  });
});
