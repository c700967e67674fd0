import type { FlatColumn } from '../parquet/flat/column.js';
import { type Aligned, placeOf } from './align.js';
import type { ColumnTokens, StatisticsSource } from './statistics.js';
import { typedText } from './typed-text.js';

/** One leaf of `stats_parsed`, by its path below that struct. */
export interface StructLeaf {
  readonly path: readonly string[];
  readonly aligned: Aligned;
}

/** Statistics that a checkpoint has as a struct of typed columns (protocol: Checkpoints, stats_parsed). */
export function structStatistics(leaves: readonly StructLeaf[]): StatisticsSource {
  const find = (path: readonly string[]): Aligned | undefined =>
    leaves.find((leaf) => leaf.path.length === path.length && leaf.path.every((name, i) => name === path[i]))
      ?.aligned;
  const rows = find(['numRecords']);
  return {
    statsText: (row) => objectText(leaves, 0, row),
    column(path): ColumnTokens {
      const min = find(['minValues', ...path]);
      const max = find(['maxValues', ...path]);
      const nulls = find(['nullCount', ...path]);
      return {
        min: (row) => token(min, row),
        max: (row) => token(max, row),
        nullCount: (row) => count(nulls, row),
      };
    },
    numRecords: (row) => count(rows, row),
  };
}

function token(aligned: Aligned | undefined, row: number): string | undefined {
  const place = aligned === undefined ? -1 : placeOf(aligned, row);
  return place < 0 ? undefined : typedText((aligned as Aligned).column, place, 'json');
}

function count(aligned: Aligned | undefined, row: number): number | undefined {
  const place = aligned === undefined ? -1 : placeOf(aligned, row);
  if (place < 0) return undefined;
  const { values }: FlatColumn = (aligned as Aligned).column;
  const value =
    values.kind === 'int64'
      ? Number(values.values[place])
      : values.kind === 'int32'
        ? (values.values[place] as number)
        : -1;
  return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** The JSON object of the leaves below one node; null leaves are left out, and so are objects without any. */
function objectText(leaves: readonly StructLeaf[], depth: number, row: number): string | undefined {
  const members: string[] = [];
  for (let i = 0; i < leaves.length; ) {
    const name = (leaves[i] as StructLeaf).path[depth] as string;
    let next = i + 1;
    while (next < leaves.length && (leaves[next] as StructLeaf).path[depth] === name) next++;
    const group = leaves.slice(i, next);
    const first = group[0] as StructLeaf;
    const text =
      first.path.length === depth + 1 ? token(first.aligned, row) : objectText(group, depth + 1, row);
    if (text !== undefined) members.push(`${JSON.stringify(name)}:${text}`);
    i = next;
  }
  return members.length === 0 ? undefined : `{${members.join(',')}}`;
}
