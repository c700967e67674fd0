import type { AddAction, MetadataAction, ProtocolAction } from '../log/actions.js';
import { parseJson, stringifyJson } from '../log/json.js';
import type { Json, JsonObject, StructType } from '../schema/types.js';
import type { StatisticsColumn } from '../snapshot/state.js';
import type { BoundPredicate } from './bind-tree.js';
import { classifyFiles, type PruneOptions, type PruneState } from './prune.js';

/** A few add actions outside a snapshot, such as those of another writer's commit, with the metadata that they were written under. */
export interface AddedFiles {
  readonly metadata: MetadataAction;
  readonly protocol?: ProtocolAction;
  readonly schema: StructType;
  readonly adds: readonly Pick<AddAction, 'partitionValues' | 'stats'>[];
}

/**
 * Whether any of the files may hold a row that the predicate is TRUE for: what decides if a commit touched what a transaction read. Statistics that cannot be
 * parsed say nothing, so their file may match.
 */
export async function anyMayMatch(
  added: AddedFiles,
  bound: BoundPredicate,
  options: PruneOptions = {},
): Promise<boolean> {
  const { all, some } = await classifyFiles(stateOfAdds(added), bound, options);
  return all.length + some.length > 0;
}

/** The actions as a state that `pruneFiles` and `classifyFiles` take; ids are positions in `adds`. */
export function stateOfAdds({ metadata, protocol, schema, adds }: AddedFiles): PruneState {
  const statistics = adds.map(({ stats }) => parsed(stats));
  const partitionNames = new Set(adds.flatMap(({ partitionValues }) => Object.keys(partitionValues)));
  return {
    metadata,
    ...(protocol === undefined ? {} : { protocol }),
    schema,
    files: {
      load: async () => {},
      ids: () => Int32Array.from(adds, (_, id) => id),
      partition: (name) => {
        if (!partitionNames.has(name)) return undefined;
        const codes = new Map<string | null, number>();
        for (const add of adds) if (!codes.has(raw(add, name))) codes.set(raw(add, name), codes.size);
        return {
          values: [...codes.keys()],
          codes: Int32Array.from(adds, (add) => codes.get(raw(add, name))!),
        };
      },
      statistics: (path) => columnOf(statistics, path),
      numRecords: (id) => count(member(statistics[id], ['numRecords'])),
    },
  };
}

function raw(add: Pick<AddAction, 'partitionValues'>, name: string): string | null {
  return Object.hasOwn(add.partitionValues, name) ? (add.partitionValues[name] ?? null) : null;
}

function parsed(stats: string | null | undefined): Json | undefined {
  if (stats === null || stats === undefined) return undefined;
  try {
    return parseJson(stats);
  } catch {
    return undefined;
  }
}

function columnOf(statistics: readonly (Json | undefined)[], path: readonly string[]): StatisticsColumn {
  const token = (id: number, section: string): string | undefined => {
    const value = member(statistics[id], [section, ...path]);
    return value === undefined || value === null ? undefined : stringifyJson(value);
  };
  return {
    min: (id) => token(id, 'minValues'),
    max: (id) => token(id, 'maxValues'),
    nullCount: (id) => count(member(statistics[id], ['nullCount', ...path])),
  };
}

function count(value: Json | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function member(value: Json | undefined, path: readonly string[]): Json | undefined {
  let at = value;
  for (const name of path) {
    if (typeof at !== 'object' || at === null || Array.isArray(at) || !Object.hasOwn(at, name))
      return undefined;
    at = (at as JsonObject)[name];
  }
  return at;
}
