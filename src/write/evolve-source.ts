import { fromArrowSchema } from '../schema/arrow.js';
import type { Row } from '../schema/rows-in.js';
import type { StructType } from '../schema/types.js';
import { Inference } from './evolve-infer.js';
import {
  type ArrowBatchLike,
  type ArrowTableLike,
  type Item,
  isBatch,
  isTable,
  itemsOf,
  ROWS_PER_BATCH,
  type RowSource,
} from './source.js';

/** A source whose beginning was looked at, and what that tells of its columns. */
export interface SeenSource {
  /** The whole source, from its first row. */
  readonly rows: RowSource;
  /** Columns that the table lacks or has narrower are among these, each schema being that of a part of the rows. */
  readonly told: readonly StructType[];
  /** To be called where the rows are not read after all. */
  close(): Promise<void>;
}

/**
 * Looks at a source before it is consumed: at all of an array or Arrow table, at the first 16,384 rows or the first Arrow batch of a stream. Arrow tells its
 * types, row objects what `Inference` makes of them. Throws as that does, and what the source throws.
 */
export async function lookAhead(source: RowSource, schema: StructType): Promise<SeenSource> {
  if (Array.isArray(source) || isBatch(source) || isTable(source)) {
    const told = toldBy(isBatch(source) || isTable(source) ? [source] : (source as Item[]), schema);
    return { rows: source, told, close: async () => undefined };
  }
  const items = itemsOf(source);
  const iterator =
    Symbol.asyncIterator in items
      ? items[Symbol.asyncIterator]()
      : (items as Iterable<Item>)[Symbol.iterator]();
  const seen: Item[] = [];
  const close = async (): Promise<void> => {
    await iterator.return?.();
  };
  try {
    for (let ended = false; !ended && seen.length < ROWS_PER_BATCH; ) {
      const next = await iterator.next();
      if (next.done) break;
      seen.push(next.value);
      ended = isBatch(next.value) || isTable(next.value);
    }
    return { rows: chained(seen, iterator), told: toldBy(seen, schema), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function* chained(
  seen: readonly Item[],
  iterator: Iterator<Item> | AsyncIterator<Item>,
): AsyncGenerator<Item> {
  try {
    yield* seen;
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value;
  } finally {
    await iterator.return?.();
  }
}

function toldBy(items: readonly Item[], schema: StructType): StructType[] {
  const inference = new Inference(schema);
  const arrowSchemas = new Set<unknown>();
  for (const item of items) {
    if (isBatch(item) || isTable(item)) arrowSchemas.add((item as ArrowBatchLike | ArrowTableLike).schema);
    else inference.add(item as Row);
  }
  const told = [...arrowSchemas].map((given) =>
    fromArrowSchema(given as Parameters<typeof fromArrowSchema>[0]),
  );
  return [...told, inference.schema];
}
