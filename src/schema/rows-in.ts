import { Data, RecordBatch, Struct } from 'apache-arrow';
import { toArrowSchema } from './arrow.js';
import { CellFault, cellError, describeValue } from './cell-fault.js';
import { buildFields, isRecord } from './nested-builder.js';
import type { StructType } from './types.js';

/** A row as callers give and get it: column names to values. */
export type Row = Record<string, unknown>;

export interface RowsInOptions {
  /** The number of the first row, for messages; 0 when absent. */
  readonly firstRow?: number;
}

/**
 * Builds one Arrow batch in exactly the table's schema (`toArrowSchema(schema)`) from row objects. Columns are found by name ignoring case; an absent member
 * and undefined are NULL. Nothing is rounded but numbers for `float` columns: what would lose digits, an instant or a zone is refused. Rows are not changed.
 *
 * Errors: `INVALID_ROW` with the row's number, the column's path, what was expected and what was got; `UNKNOWN_COLUMN` for a member that is no column.
 */
export function batchFromRows(
  rows: readonly Row[],
  schema: StructType,
  options: RowsInOptions = {},
): RecordBatch {
  const arrowSchema = toArrowSchema(schema);
  try {
    rows.forEach((row, index) => {
      if (!isRecord(row)) throw new CellFault({ index, expected: 'an object', got: describeValue(row) });
    });
    const children = buildFields(rows, schema, undefined);
    const type = new Struct(arrowSchema.fields);
    return new RecordBatch(
      arrowSchema,
      new Data(type, 0, rows.length, 0, [undefined, undefined, undefined], children),
    );
  } catch (error) {
    throw error instanceof CellFault ? cellError(error, options.firstRow ?? 0) : error;
  }
}
