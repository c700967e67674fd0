import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { isTableError } from '../../../src/errors.js';
import { parseCommit, serializeActions } from '../../../src/log/action-lines.js';
import type { Action, MetadataAction, ProtocolAction } from '../../../src/log/actions.js';
import { parseVersionChecksum } from '../../../src/log/checksum-file.js';
import { assertReadable } from '../../../src/log/features.js';
import { readHistory } from '../../../src/log/history.js';
import { readLogFile } from '../../../src/log/limits.js';
import { type LogSegment, listSegment } from '../../../src/log/segment.js';
import { MemoryStore } from '../../../src/store/memory.js';
import { fakeContext } from '../../support/fake-context.js';
import { referenceDir } from '../../support/reference-dir.js';

interface Entry {
  name: string;
  outcome: 'rows' | 'log-only' | 'refuse' | 'refuse-scan';
  versions?: number[];
  history?: boolean;
}

const dir = referenceDir();
const entries: Entry[] = dir ? JSON.parse(await readFile(`${dir}/manifest.json`, 'utf8')) : [];

async function load(name: string) {
  const ctx = fakeContext();
  const store = new MemoryStore(ctx);
  const root = `${dir}/tables/${name}`;
  for (const entry of await readdir(`${root}/_delta_log`, { recursive: true, withFileTypes: true })) {
    const path = `${entry.parentPath}/${entry.name}`;
    if (entry.isFile()) await store.put(path.slice(root.length + 1), await readFile(path));
  }
  return { ctx, store };
}

const expected = async (name: string) => JSON.parse(await readFile(`${dir}/expected/${name}.json`, 'utf8'));

async function actionsOf(store: MemoryStore, segment: LogSegment): Promise<Action[]> {
  const found: Action[] = [];
  for (const commit of segment.commits) {
    const where = { version: commit.version, file: commit.key };
    const actions = parseCommit(await readLogFile(store, commit), where);
    expect(parseCommit(serializeActions(actions), where)).toHaveLength(actions.length);
    found.push(...actions);
  }
  return found;
}

describe.skipIf(!dir)('the logs of the reference tables', () => {
  test.each(entries.filter(({ outcome }) => outcome !== 'refuse'))(
    '$name is found, parsed and readable',
    async ({ name, versions = [], history }) => {
      const { ctx, store } = await load(name);
      const { version, protocol } = await expected(name);
      const segment = await listSegment(store, ctx);
      expect(segment.version).toBe(version);
      const actions = await actionsOf(store, segment);
      const metadata = actions
        .flatMap((action): MetadataAction[] => ('metaData' in action ? [action.metaData] : []))
        .at(-1);
      const stated = actions
        .flatMap((action): ProtocolAction[] => ('protocol' in action ? [action.protocol] : []))
        .at(-1);
      assertReadable(stated ?? protocol, metadata, store.url);
      for (const wanted of versions) {
        const { error } = await expected(`${name}@${wanted}`);
        const found = listSegment(store, ctx, { version: wanted });
        if (error) await expect(found).rejects.toMatchObject({ code: 'VERSION_NOT_FOUND' });
        else expect((await found).version).toBe(wanted);
      }
      if (history) {
        const told: unknown[] = [];
        for await (const entry of readHistory(store, { metadata: metadata! })) {
          told.unshift({ version: entry.version, inCommitTimestamp: entry.inCommitTimestamp });
        }
        expect(told).toEqual(JSON.parse(await readFile(`${dir}/expected/${name}.history.json`, 'utf8')));
      }
    },
  );

  test.each(entries.filter(({ outcome }) => outcome === 'refuse'))(
    '$name is refused, by its log or for lack of protocol or metadata',
    async ({ name }) => {
      const { ctx, store } = await load(name);
      const refused = await (async () => {
        const segment = await listSegment(store, ctx);
        const actions = await actionsOf(store, segment);
        const metadata = actions
          .flatMap((action): MetadataAction[] => ('metaData' in action ? [action.metaData] : []))
          .at(-1);
        const protocol = actions
          .flatMap((action): ProtocolAction[] => ('protocol' in action ? [action.protocol] : []))
          .at(-1);
        if (!protocol || !metadata) return 'incomplete';
        assertReadable(protocol, metadata, store.url);
        return 'accepted';
      })().catch((error) => (isTableError(error) ? error.code : error));
      expect(refused).toBeOneOf(['incomplete', 'CORRUPT_LOG', 'UNSUPPORTED_FEATURE']);
    },
  );

  test('their checksum files are read', async () => {
    let read = 0;
    for (const { name } of entries) {
      const { store } = await load(name);
      for await (const page of store.list('_delta_log/0000')) {
        for (const { key } of page) {
          if (!key.endsWith('.crc')) continue;
          expect(parseVersionChecksum(await store.get(key), { version: 0, file: key })).toBeDefined();
          read++;
        }
      }
    }
    expect(read).toBeGreaterThan(0);
  });
});
