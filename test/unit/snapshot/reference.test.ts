import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { AddAction, DeletionVector } from '../../../src/log/actions.js';
import { parseJson } from '../../../src/log/json.js';
import { loadState } from '../../../src/snapshot/load.js';
import type { State } from '../../../src/snapshot/state.js';
import { openStore } from '../../../src/store/open.js';
import { referenceDir } from '../../support/reference-dir.js';
import { testContext } from '../../support/store-context.js';

interface Entry {
  readonly name: string;
  readonly features: readonly string[];
  readonly versions: readonly number[];
}

interface Expected {
  readonly version: number;
  readonly numFiles: number;
  readonly protocol: Record<string, unknown>;
  readonly appTransactions: Record<string, unknown>;
  readonly configuration: Record<string, string>;
  readonly domainMetadata: Record<string, string>;
  readonly partitionColumns: readonly string[];
  readonly schema: string;
  readonly error: string | null;
}

interface ExpectedFile {
  readonly path: string;
  readonly partitionValues: Record<string, string | null>;
  readonly size: number;
  readonly deletionVector?: DeletionVector;
}

const found = referenceDir();
const root = found ?? '';

function load<T>(name: string): T {
  return JSON.parse(readFileSync(join(root, name), 'utf8')) as T;
}

describe.skipIf(found === undefined)('the state of reference tables', () => {
  const entries = found === undefined ? [] : load<Entry[]>('manifest.json');
  for (const { name, versions, features } of entries) {
    // Types outside the protocol may be refused; what a reader that takes them finds is not ours to check.
    if (features.includes('outside-the-protocol')) continue;
    for (const version of [undefined, ...versions]) {
      const label = version === undefined ? name : `${name}@${version}`;
      it(label, async () => {
        const expected = load<Expected>(`expected/${label}.json`);
        const ctx = testContext();
        const store = openStore(pathToFileURL(join(root, 'tables', name)).href, ctx);
        if (expected.error !== null) {
          // What cannot be read has to be refused here, or by a scan.
          const state = await loadState(store, ctx, { version }).catch(() => undefined);
          if (state) expect(state.version).toBe(expected.version ?? state.version);
          return;
        }
        const state = await loadState(store, ctx, { version });
        compare(state, expected);
        await compareFiles(state, label);
      });
    }
  }
});

function compare(state: State, expected: Expected): void {
  expect(state.version).toBe(expected.version);
  expect(state.files.count).toBe(expected.numFiles);
  expect(state.files.ids().length).toBe(expected.numFiles);
  const sorted = (list: readonly string[] | null | undefined): string[] | undefined =>
    list ? [...list].sort() : undefined;
  const { minReaderVersion, minWriterVersion, readerFeatures, writerFeatures } = state.protocol;
  const protocol = {
    minReaderVersion,
    minWriterVersion,
    readerFeatures: sorted(readerFeatures),
    writerFeatures: sorted(writerFeatures),
  };
  expect(JSON.parse(JSON.stringify(protocol))).toEqual(expected.protocol);
  const transactions = [...state.txns].map(([appId, { version }]) => [
    appId,
    Number.isSafeInteger(version) ? version : String(version),
  ]);
  expect(Object.fromEntries(transactions)).toEqual(expected.appTransactions);
  expect(state.metadata.configuration).toEqual(expected.configuration);
  expect(
    Object.fromEntries([...state.domains].map(([domain, { configuration }]) => [domain, configuration])),
  ).toEqual(expected.domainMetadata);
  expect(state.metadata.partitionColumns).toEqual(expected.partitionColumns);
  expect(parseJson(state.metadata.schemaString)).toEqual(parseJson(expected.schema));
}

async function compareFiles(state: State, label: string): Promise<void> {
  const wanted = readFileSync(join(root, `expected/${label}.files.jsonl`), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => canonical(JSON.parse(line) as ExpectedFile));
  await state.files.load({ actions: true });
  const files: string[] = [];
  for (const id of state.files.ids()) {
    const add: AddAction = state.files.add(id);
    expect(add.path).toBe(state.files.path(id));
    expect(add.size).toBe(state.files.size(id));
    expect(state.files.hasDeletionVector(id)).toBe(Boolean(add.deletionVector));
    files.push(canonical(add as ExpectedFile));
  }
  expect(files.sort()).toEqual(wanted.sort());
}

function canonical(file: ExpectedFile): string {
  const { storageType, pathOrInlineDv, offset, sizeInBytes, cardinality } = file.deletionVector ?? {};
  const values = Object.entries(file.partitionValues).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([
    decodeURIComponent(file.path),
    values,
    file.size,
    storageType,
    pathOrInlineDv,
    offset,
    sizeInBytes,
    cardinality,
  ]);
}
