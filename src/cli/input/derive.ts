import { RecordBatch as Batch, Data, type RecordBatch, Struct } from 'apache-arrow';
import { isTableError, TableError } from '../../errors.js';
import { toArrowData } from '../../parquet/arrow-data.js';
import type { ColumnData } from '../../parquet/column/assemble.js';
import { type Bound, bindExpression } from '../../scan/bind.js';
import { evaluateColumn } from '../../scan/evaluate.js';
import type { Expression } from '../../scan/predicate.js';
import { parseExpression } from '../../scan/sql.js';
import { toArrowSchema, toArrowType } from '../../schema/arrow.js';
import { packBytes, packStrings } from '../../schema/text-column.js';
import type { DataType, Datum, StructType } from '../../schema/types.js';
import { parseAssignment } from './assignment.js';

/** A column that is computed from others: `--derive 'day = date(ts)'`. */
export interface Derivation {
  readonly name: string;
  readonly text: string;
  readonly expression: Expression;
}

/** Derivations ready for batches of one schema; `schema` has theirs added. */
export interface BoundDerivations {
  readonly schema: StructType;
  readonly columns: readonly { readonly name: string; readonly bound: Bound }[];
}

/** Rows whose derived values are held as JavaScript values at once. */
const SLICE = 65_536;

/** Parses `name = expression`. Throws `INVALID_PREDICATE`. */
export function parseDerivation(text: string): Derivation {
  const assignment = parseAssignment(text);
  if (assignment === undefined)
    throw new TableError(
      'INVALID_PREDICATE',
      `--derive takes NAME = EXPRESSION, such as 'day = date(ts)', not ${JSON.stringify(text)}.`,
      { text },
    );
  const { name, expression } = assignment;
  return { name, text: expression, expression: parseExpression(expression) };
}

/** Finds the columns that derivations read; a later one may read an earlier one. Throws `UNKNOWN_COLUMN`, `INVALID_PREDICATE`, `INVALID_INPUT`. */
export function bindDerivations(derivations: readonly Derivation[], schema: StructType): BoundDerivations {
  let fields = [...schema.fields];
  const columns: { name: string; bound: Bound }[] = [];
  for (const { name, text, expression } of derivations) {
    if (fields.some((field) => field.name.toLowerCase() === name.toLowerCase()))
      throw new TableError(
        'INVALID_INPUT',
        `--derive ${name}: the input has a column of that name already.`,
        { column: name },
      );
    const bound = bindNamed(name, expression, { type: 'struct', fields });
    const { type } = bound.root;
    if (['void', 'struct', 'array', 'map', 'variant'].includes(type.type))
      throw new TableError(
        'INVALID_PREDICATE',
        `--derive ${name}: ${text} is of type ${type.type}, which cannot be derived.`,
        { column: name, text },
      );
    columns.push({ name, bound });
    fields = [...fields, { name, dataType: type, nullable: true, metadata: {} }];
  }
  return { schema: { type: 'struct', fields }, columns };
}

function bindNamed(name: string, expression: Expression, schema: StructType): Bound {
  try {
    return bindExpression(expression, schema);
  } catch (error) {
    if (!isTableError(error)) throw error;
    const { code, message, context } = error;
    throw new TableError(code, `--derive ${name}: ${message}`, context, error);
  }
}

/** The batch, in slices, with the derived columns behind its own. */
export function* derive({ schema, columns }: BoundDerivations, batch: RecordBatch): Generator<RecordBatch> {
  if (columns.length === 0) {
    yield batch;
    return;
  }
  for (let start = 0; start < batch.numRows; start += SLICE) {
    let slice = batch.numRows <= SLICE ? batch : batch.slice(start, start + SLICE);
    for (const { name, bound } of columns) slice = withColumn(slice, name, bound, schema);
    yield slice;
  }
}

function withColumn(batch: RecordBatch, name: string, bound: Bound, schema: StructType): RecordBatch {
  const { type, values } = evaluateColumn(bound, batch);
  const data = toArrowData(toArrowType(type), columnOf(type, values));
  const field = toArrowSchema(schema).fields.find((candidate) => candidate.name === name)!;
  const fields = [...batch.schema.fields, field];
  const children = [...batch.data.children, data];
  const { schema: given } = batch;
  const wider = new (given.constructor as typeof import('apache-arrow').Schema)(fields, given.metadata);
  const struct = new Data(
    new Struct(fields),
    0,
    batch.numRows,
    0,
    [undefined, undefined, undefined],
    children,
  );
  return new Batch(wider, struct);
}

/** Values of a primitive type as a column. */
function columnOf(type: DataType, values: readonly Datum[]): ColumnData {
  const length = values.length;
  const validity = new Uint8Array((length + 7) >> 3);
  let nullCount = 0;
  for (let i = 0; i < length; i++) {
    if (values[i] === null) nullCount++;
    else validity[i >> 3]! |= 1 << (i & 7);
  }
  const column = { length, nullCount, ...(nullCount > 0 ? { validity } : {}) };
  switch (type.type) {
    case 'string': {
      const { offsets, bytes } = packStrings(
        values.map((value) => (value as string | null) ?? ''),
        () => undefined,
      );
      return { ...column, offsets, values: bytes };
    }
    case 'binary': {
      const { offsets, bytes } = packBytes(
        values.map((value) => (value as Uint8Array | null) ?? undefined),
        () => undefined,
      );
      return { ...column, offsets, values: bytes };
    }
    case 'boolean': {
      const bits = new Uint8Array((length + 7) >> 3);
      values.forEach((value, i) => {
        if (value === true) bits[i >> 3]! |= 1 << (i & 7);
      });
      return { ...column, values: bits };
    }
    default:
      return { ...column, values: new Uint8Array(fixedValues(type, values).buffer) };
  }
}

function fixedValues(
  type: DataType,
  values: readonly Datum[],
): Int8Array | Int16Array | Int32Array | Float32Array | Float64Array | BigInt64Array {
  switch (type.type) {
    case 'byte':
      return Int8Array.from(values, Number);
    case 'short':
      return Int16Array.from(values, Number);
    case 'integer':
    case 'date':
      return Int32Array.from(values, Number);
    case 'float':
      return Float32Array.from(values, Number);
    case 'double':
      return Float64Array.from(values, Number);
    case 'decimal': {
      const halves = new BigInt64Array(values.length * 2);
      values.forEach((value, i) => {
        const unscaled = (value as bigint | null) ?? 0n;
        halves[2 * i] = BigInt.asIntN(64, unscaled);
        halves[2 * i + 1] = unscaled >> 64n;
      });
      return halves;
    }
    default:
      return BigInt64Array.from(values, (value) => (value as bigint | null) ?? 0n);
  }
}
