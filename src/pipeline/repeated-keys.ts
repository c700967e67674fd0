import { TableError } from '../errors.js';
import type { Interval } from '../interval/interval.js';
import { Scan } from '../scan/scan.js';
import type { ArrowDataLike } from '../schema/arrow-shape.js';
import { cellReader } from '../schema/cell-reader.js';
import { Digester } from '../schema/digest.js';
import { findField } from '../schema/mapping.js';
import { type Row, rowsFromBatch } from '../schema/rows-out.js';
import type { Datum, StructType } from '../schema/types.js';
import type { State } from '../snapshot/state.js';
import type { Job } from './job.js';
import { KeyGroups } from './key-groups.js';
import { positions } from './live.js';
import { bindTarget } from './target.js';

/** Keys whose rows lie in more than one interval: counted twice by whoever sums over intervals. */
export interface RepeatedKeys {
  readonly columns: readonly string[];
  /** How many such keys there are. */
  readonly count: number;
  /** Some of them, with the intervals that they lie in, oldest first. */
  readonly examples: readonly { readonly key: Row; readonly intervals: readonly Interval[] }[];
}

/** What hashes may take of memory before they wait on the disk. */
const MEMORY = 64 * 2 ** 20;
const SHOWN = 10;

/**
 * Looks for keys that lie in two intervals, by reading the key columns of the pipeline's rows in these intervals; memory is bounded, what is more waits on the
 * local disk. `keys` names the columns, or is true for those of the pipeline (`on`). NULL counts as a value. Throws `INVALID_INPUT` where no columns are named,
 * and `UNKNOWN_COLUMN`.
 */
export async function repeatedKeys(
  job: Job,
  state: State,
  intervals: readonly Interval[],
  keys: true | readonly string[],
  signal?: AbortSignal,
): Promise<RepeatedKeys> {
  const { definition, table } = job;
  const target = bindTarget(definition, state);
  const columns = keyColumns(state.schema, keys === true ? definition.on : keys);
  const [first, last] = [intervals[0], intervals.at(-1)];
  if (!first || !last) return { columns, count: 0, examples: [] };
  const own = target.field.name;
  const read = columns.includes(own) ? columns : [...columns, own];
  const schema: StructType = { type: 'struct', fields: read.map((name) => findField(state.schema, name)!) };
  const at = read.indexOf(own);
  const digester = new Digester(schema, columns.includes(own) ? [] : [own]);
  const scan = new Scan(table, async () => state, {
    columns: read,
    where: target.within(first, last),
    signal,
    reuseMemory: true,
  });
  const positionOf = positions(target, intervals);
  const groups = new KeyGroups(table.ctx, MEMORY);
  try {
    for await (const batch of scan.batches()) {
      const cell = cellReader(batch.data.children[at] as unknown as ArrowDataLike, target.field.dataType, {
        timestamp: 'micros',
      });
      const place = (row: number): number => {
        const value = cell(row) as Datum;
        return value === null ? -1 : positionOf(value);
      };
      await groups.add(
        digester.hash(batch),
        Int32Array.from({ length: batch.numRows }, (_, row) => place(row)),
      );
    }
    const { count, examples } = await groups.repeated(SHOWN);
    const found = new Map(
      examples.map(({ hash, groups: numbers }) => [
        hash.join(' '),
        {
          intervals: [...numbers].sort((a, b) => a - b).map((i) => intervals[i]!),
          key: undefined as Row | undefined,
        },
      ]),
    );
    let unnamed = found.size;
    const firstWords = new Set(examples.map(({ hash }) => hash[0]!));
    // A row of each tells what the key is.
    const names = unnamed > 0 ? scan.batches() : [];
    for await (const batch of names) {
      const hashes = digester.hash(batch);
      for (let row = 0; row < batch.numRows; row++) {
        if (!firstWords.has(hashes[row * 4]!)) continue;
        const entry = found.get(hashes.subarray(row * 4, row * 4 + 4).join(' '));
        if (!entry || entry.key) continue;
        const [values] = rowsFromBatch(batch.slice(row, row + 1), schema);
        entry.key = Object.fromEntries(columns.map((name) => [name, values![name]]));
        unnamed--;
      }
      if (unnamed === 0) break;
    }
    return {
      columns,
      count,
      examples: [...found.values()].map(({ key, intervals: of }) => ({ key: key ?? {}, intervals: of })),
    };
  } finally {
    await groups.close();
  }
}

function keyColumns(schema: StructType, names: readonly string[]): string[] {
  if (names.length === 0) {
    throw new TableError(
      'INVALID_INPUT',
      'The pipeline has no key to look for. Name its columns (keys, --keys).',
      {},
    );
  }
  const found = names.map((name) => {
    const field = findField(schema, name);
    if (field) return field.name;
    throw new TableError('UNKNOWN_COLUMN', `The table has no column '${name}' for keys.`, { column: name });
  });
  return [...new Set(found)];
}
