import type { RecordBatch } from 'apache-arrow';
import { TableError } from '../errors.js';
import { constantColumn } from '../scan/select.js';
import { conformBatch } from '../schema/conform.js';
import { batchFromRows, type Row } from '../schema/rows-in.js';
import type { Datum, StructType } from '../schema/types.js';
import { datumToJs } from '../schema/value.js';
import { batchOf, tableOf } from './columns.js';

/** Arrow data is taken by its shape, from any copy of `apache-arrow`. */
export interface ArrowBatchLike {
  readonly schema: unknown;
  readonly numRows: number;
  readonly data: unknown;
}
export interface ArrowTableLike {
  readonly schema: unknown;
  readonly batches: readonly ArrowBatchLike[];
}

export type Item = Row | ArrowBatchLike | ArrowTableLike;

/** What every verb takes: rows as objects, or Arrow batches or tables, one or many, at once or from any async source. */
export type RowSource = ArrowBatchLike | ArrowTableLike | Iterable<Item> | AsyncIterable<Item>;

/** Row objects gathered into one batch. */
export const ROWS_PER_BATCH = 16_384;

/**
 * The source as Arrow batches that have exactly the table's schema, pulled one at a time. Row objects are gathered into batches of bounded length. Columns
 * that a row or batch does not have, where undefined counts as not having it, get the value of `defaults`, else NULL.
 * Throws `INVALID_ROW` (row number counted over the whole source), `UNKNOWN_COLUMN`, `INVALID_INPUT`, and whatever the source throws.
 */
export async function* batchesOf(
  source: RowSource,
  schema: StructType,
  defaults: ReadonlyMap<string, Datum> = new Map(),
): AsyncGenerator<RecordBatch> {
  const fill = defaultsOf(schema, defaults);
  let rows: Row[] = [];
  let seen = 0;
  const flush = (): RecordBatch => {
    const batch = batchFromRows(rows, schema, { firstRow: seen });
    seen += rows.length;
    rows = [];
    return batch;
  };
  for await (const item of itemsOf(source)) {
    if (isTable(item) || isBatch(item)) {
      if (rows.length > 0) yield flush();
      for (const batch of isTable(item) ? item.batches : [item]) {
        if (batch.numRows > 0) yield fill.batch(batch, conformBatch(batch, schema, { firstRow: seen }));
        seen += batch.numRows;
      }
    } else {
      rows.push(fill.row(item));
      if (rows.length === ROWS_PER_BATCH) yield flush();
    }
  }
  if (rows.length > 0) yield flush();
}

interface Fill {
  row(row: Row): Row;
  /** `given` as it came, `batch` in the table's schema. */
  batch(given: ArrowBatchLike, batch: RecordBatch): RecordBatch;
}

function defaultsOf(schema: StructType, defaults: ReadonlyMap<string, Datum>): Fill {
  const filled = schema.fields.flatMap((field, index) => {
    const value = defaults.get(field.name);
    return value === undefined ? [] : [{ field, index, value, js: datumToJs(field.dataType, value) }];
  });
  if (filled.length === 0) return { row: (row) => row, batch: (_, batch) => batch };
  const absentFrom = (names: ReadonlySet<string>) =>
    filled.filter(({ field }) => !names.has(field.name.toLowerCase()));
  return {
    row(row) {
      const members = Object.entries(row).flatMap(([name, value]) =>
        value === undefined ? [] : [name.toLowerCase()],
      );
      const absent = absentFrom(new Set(members));
      if (absent.length === 0) return row;
      const had = Object.entries(row).filter(([, value]) => value !== undefined);
      return Object.fromEntries([...had, ...absent.map(({ field, js }) => [field.name, js] as const)]);
    },
    batch(given, batch) {
      const { fields } = given.schema as { fields: readonly { name: string }[] };
      const absent = absentFrom(new Set(fields.map(({ name }) => name.toLowerCase())));
      if (absent.length === 0) return batch;
      const columns = [...tableOf(batch, schema).columns];
      for (const { field, index, value } of absent)
        columns[index] = constantColumn(field.dataType, value, batch.numRows);
      return batchOf({ rows: batch.numRows, columns }, schema);
    },
  };
}

/** The items of a source one after another. Throws `INVALID_INPUT` for what is none. */
export function itemsOf(source: RowSource): Iterable<Item> | AsyncIterable<Item> {
  if (isTable(source) || isBatch(source)) return [source];
  if (typeof source === 'object' && source !== null) {
    if (Symbol.asyncIterator in source || Symbol.iterator in source) return source;
  }
  throw new TableError(
    'INVALID_INPUT',
    'Rows must be an array, an iterable or async iterable of rows or Arrow batches, or an Arrow table.',
    { got: typeof source },
  );
}

export function isBatch(item: unknown): item is ArrowBatchLike {
  return (
    isObject(item) && 'numRows' in item && 'data' in item && isObject(item.schema) && 'fields' in item.schema
  );
}

export function isTable(item: unknown): item is ArrowTableLike {
  return isObject(item) && Array.isArray(item.batches) && isObject(item.schema) && 'fields' in item.schema;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
