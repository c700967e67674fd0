import { Data, type Field, RecordBatch, Struct } from 'apache-arrow';
import { toArrowSchema } from './arrow.js';
import type { ArrowDataLike, ArrowRecordBatchLike } from './arrow-shape.js';
import { castFields } from './cast-column.js';
import { CellFault, cellError } from './cell-fault.js';
import type { StructType } from './types.js';

export interface ConformOptions {
  /** The number of the first row, for messages; 0 when absent. */
  readonly firstRow?: number;
  /** What an Arrow timestamp without a zone means for a `timestamp` column: `refuse` (the default) or `utc`. */
  readonly naive?: 'refuse' | 'utc';
}

/**
 * The batch in exactly the table's Arrow schema (`toArrowSchema(schema)`). Takes batches of any copy of `apache-arrow`. Columns are found by name ignoring
 * case and put in the table's order; absent ones become NULL. Dictionaries, large and view strings, other integer and decimal widths, unsigned integers, other
 * timestamp units and Date64 are rewritten when every value survives exactly. A batch that conforms comes back as it is; memory is shared where it can be.
 *
 * Errors: `INVALID_ROW` with the column, what was expected and what was got, and the row's number where one value is at fault (NULL in a NOT NULL column,
 * nested included); `UNKNOWN_COLUMN` for a column that the table has not.
 */
export function conformBatch(batch: unknown, schema: StructType, options: ConformOptions = {}): RecordBatch {
  const given = batch as ArrowRecordBatchLike;
  const arrowSchema = toArrowSchema(schema);
  const data: ArrowDataLike = { ...shapeOf(given.data), type: { typeId: 13, children: given.schema.fields } };
  try {
    const children = castFields(
      data,
      schema,
      arrowSchema.fields,
      { naive: options.naive ?? 'refuse' },
      undefined,
    );
    if (
      given instanceof RecordBatch &&
      sameFields(given.schema.fields, arrowSchema.fields) &&
      sameChildren(given, children)
    )
      return given;
    return new RecordBatch(
      arrowSchema,
      new Data(
        new Struct(arrowSchema.fields),
        0,
        given.numRows,
        0,
        [undefined, undefined, undefined],
        children,
      ),
    );
  } catch (error) {
    throw error instanceof CellFault ? cellError(error, options.firstRow ?? 0) : error;
  }
}

/** RecordBatch copies the fields it is given but keeps their types. */
function sameFields(given: readonly Field[], wanted: readonly Field[]): boolean {
  return (
    given.length === wanted.length &&
    given.every((field, i) => {
      const other = wanted[i]!;
      return field.type === other.type && field.name === other.name && field.nullable === other.nullable;
    })
  );
}

function sameChildren(batch: RecordBatch, children: readonly Data[]): boolean {
  return children.every((child, i) => child === batch.data.children[i]);
}

/** The members of a column that are getters on some copies' classes, read once. */
function shapeOf(data: ArrowDataLike): ArrowDataLike {
  return {
    type: data.type,
    length: data.length,
    offset: data.offset,
    nullCount: 0,
    nullBitmap: undefined,
    children: data.children,
  };
}
