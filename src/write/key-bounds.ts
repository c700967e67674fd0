import type { RecordBatch } from 'apache-arrow';
import { arrowReader } from '../scan/evaluate-arrow.js';
import { and, col, compare, type Expression, isIn, isNull, lit, or } from '../scan/predicate.js';
import type { DataType, Datum, StructField } from '../schema/types.js';
import { compareDatum } from '../schema/value.js';

/** Distinct values of a key column that are worth listing in a predicate. */
const LISTED = 1000;

interface Bounds {
  readonly field: StructField;
  least: Datum;
  greatest: Datum;
  hasNull: boolean;
  /** Undefined once there are too many. */
  distinct: Set<Datum> | undefined;
}

/** What the keys of a source say of the target rows that can match: per key column the range, and the values while they are few. */
export class KeyBounds {
  readonly #columns: readonly Bounds[];
  readonly #indexes: readonly number[];

  /** `indexes` are the places of the key columns in the batches. */
  constructor(fields: readonly StructField[], indexes: readonly number[]) {
    this.#indexes = indexes;
    this.#columns = fields.map((field) => ({
      field,
      least: null,
      greatest: null,
      hasNull: false,
      // Bytes have no identity that a set could tell.
      distinct: field.dataType.type === 'binary' ? undefined : new Set(),
    }));
  }

  add(batch: RecordBatch): void {
    this.#columns.forEach((column, i) => {
      const type = column.field.dataType;
      const read = arrowReader({ data: batch.data.children[this.#indexes[i]!]!, outer: [] }, type);
      let last: Datum = null;
      for (let row = 0; row < batch.numRows; row++) {
        const value = read(row);
        if (value === null) column.hasNull = true;
        else if (value !== last) {
          last = value;
          extend(column, type, value);
        }
      }
    });
  }

  /** TRUE for every row that can have one of the keys, and perhaps for others; FALSE where there are no keys. With `listed` also by the values. */
  predicate(nulls: boolean, listed: boolean): Expression {
    return and(
      ...this.#columns.map((column) => {
        const parts = [...valuesOf(column, listed)];
        if (nulls && column.hasNull) parts.push(isNull(col([column.field.name])));
        return or(...parts);
      }),
    );
  }

  /** True where `predicate(nulls, true)` is TRUE for exactly the rows that have one of the keys: a single column of few values. */
  isExact(): boolean {
    return this.#columns.length === 1 && this.#columns[0]!.distinct !== undefined;
  }
}

function extend(column: Bounds, type: DataType, value: Datum): void {
  if (column.least === null || compareDatum(type, value, column.least) < 0) column.least = value;
  if (column.greatest === null || compareDatum(type, value, column.greatest) > 0) column.greatest = value;
  column.distinct?.add(value);
  if (column.distinct && column.distinct.size > LISTED) column.distinct = undefined;
}

function* valuesOf({ field, least, greatest, distinct }: Bounds, listed: boolean): Generator<Expression> {
  if (least === null) return;
  const type = field.dataType;
  const column = col([field.name]);
  const literal = (value: Datum): Expression => lit(value as never, type);
  if (listed && distinct) yield isIn(column, [...distinct].map(literal));
  else yield and(compare('>=', column, literal(least)), compare('<=', column, literal(greatest)));
}
