import { RecordBatch as Batch, Data, type RecordBatch, Struct } from 'apache-arrow';
import { isTableError, TableError } from '../../errors.js';
import { type Bound, bindExpression } from '../../scan/bind.js';
import { deriveColumn } from '../../scan/evaluate-derive.js';
import type { Expression } from '../../scan/predicate.js';
import { parseExpression } from '../../scan/sql.js';
import { toArrowSchema } from '../../schema/arrow.js';
import type { StructType } from '../../schema/types.js';
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
  const data = deriveColumn(bound, batch);
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
