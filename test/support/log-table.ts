import { serializeActions } from '../../src/log/action-lines.js';
import type { Action, AddAction, MetadataAction, RemoveAction } from '../../src/log/actions.js';
import { commitPath } from '../../src/log/paths.js';
import type { Store } from '../../src/store/store.js';

/** The metadata of a small test table: `id long, name string`, partitioned by `p` where asked. */
export function metadata(overrides: Partial<MetadataAction> = {}): MetadataAction {
  const field = (name: string, type: string) => ({ name, type, nullable: true, metadata: {} });
  return {
    id: '00000000-0000-4000-8000-000000000000',
    format: { provider: 'parquet', options: {} },
    schemaString: JSON.stringify({
      type: 'struct',
      fields: [field('id', 'long'), field('name', 'string'), field('p', 'string')],
    }),
    partitionColumns: [],
    configuration: {},
    ...overrides,
  };
}

export const PROTOCOL: Action = { protocol: { minReaderVersion: 1, minWriterVersion: 2 } };

export function add(path: string, overrides: Partial<AddAction> = {}): Action {
  return {
    add: {
      path,
      partitionValues: {},
      size: 100,
      modificationTime: 1_700_000_000_000,
      dataChange: true,
      ...overrides,
    },
  };
}

export function remove(path: string, overrides: Partial<RemoveAction> = {}): Action {
  return { remove: { path, deletionTimestamp: 1_700_000_000_000, dataChange: true, ...overrides } };
}

/** Puts one commit, by the writer the library itself uses, or as raw text. */
export async function putCommit(
  store: Store,
  version: number,
  actions: readonly Action[] | string,
): Promise<void> {
  await store.put(
    commitPath(version),
    typeof actions === 'string' ? new TextEncoder().encode(actions) : serializeActions(actions),
  );
}
