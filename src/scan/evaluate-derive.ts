import { type DataType as ArrowType, Data } from 'apache-arrow';
import { TableError } from '../errors.js';
import { toArrowType } from '../schema/arrow.js';
import { buildColumn, Validity } from '../schema/column-builder.js';
import { decimalText } from '../schema/number-text.js';
import type { DataType, Datum } from '../schema/types.js';
import type { Bound } from './bind-tree.js';
import { evaluateColumn } from './evaluate.js';
import { ARROW, type ArrowBatch, type ArrowColumn, arrowColumn, validityOf } from './evaluate-arrow.js';
import { dayOfMicros, MICROS_PER_DAY } from './functions-time.js';

const MICROSECOND = 2;

/**
 * An expression over a batch as an Arrow column, in the Arrow type that tables use for `bound.root.type`: `date(ts)` for a derived partition column.
 * Throws INVALID_PREDICATE for an expression that has no type, such as NULL alone.
 */
export function deriveColumn(bound: Bound, batch: ArrowBatch): Data {
  const { root } = bound;
  if (root.type.type === 'void') {
    throw new TableError('INVALID_PREDICATE', 'A derived column needs a type; write CAST(... AS type).', {});
  }
  if (root.kind === 'cast' && root.type.type === 'date' && root.operand.kind === 'column') {
    const column = arrowColumn(batch, root.operand);
    if (column.data.type.typeId === ARROW.timestamp && column.data.type.unit === MICROSECOND) {
      return daysOf(column, batch.numRows, toArrowType(root.type));
    }
  }
  const { type, values } = evaluateColumn(bound, batch);
  return packed(type, values);
}

/** Days of microseconds, without a bigint for each row. */
function daysOf(column: ArrowColumn, rows: number, arrowType: ArrowType): Data {
  const exact = column.data.values as BigInt64Array;
  const { buffer, byteOffset } = exact;
  const low = new Uint32Array(buffer, byteOffset, rows * 2);
  const high = new Int32Array(buffer, byteOffset, rows * 2);
  const days = new Int32Array(rows);
  for (let row = 0; row < rows; row++) {
    const micros = high[2 * row + 1]! * 4_294_967_296 + low[2 * row]!;
    // A double holds microseconds exactly until the year 2255; beyond it the bigint itself decides.
    days[row] = Number.isSafeInteger(micros) ? Math.floor(micros / MICROS_PER_DAY) : dayOfMicros(exact[row]!);
  }
  const valid = validityOf(column);
  const validity = new Validity(rows);
  if (valid !== undefined) for (let row = 0; row < rows; row++) if (!valid(row)) validity.clear(row);
  return new Data(arrowType, 0, rows, validity.nulls, [undefined, days, validity.bitmap]);
}

function packed(type: DataType, values: readonly Datum[]): Data {
  const array = fixedArray(type, values.length);
  if (array === undefined) {
    const texts =
      type.type === 'decimal'
        ? values.map((each) => (each === null ? null : decimalText(each as bigint, type.scale)))
        : values;
    return buildColumn(texts, { type, nullable: true });
  }
  const validity = new Validity(values.length);
  for (const [row, value] of values.entries()) {
    if (value === null) validity.clear(row);
    else array[row] = value as never;
  }
  return new Data(toArrowType(type), 0, values.length, validity.nulls, [undefined, array, validity.bitmap]);
}

function fixedArray(type: DataType, length: number) {
  switch (type.type) {
    case 'byte':
      return new Int8Array(length);
    case 'short':
      return new Int16Array(length);
    case 'integer':
    case 'date':
      return new Int32Array(length);
    case 'float':
      return new Float32Array(length);
    case 'double':
      return new Float64Array(length);
    case 'long':
    case 'timestamp':
    case 'timestamp_ntz':
      return new BigInt64Array(length);
    default:
      return undefined;
  }
}
