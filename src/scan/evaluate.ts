import type { DataType, Datum } from '../schema/types.js';
import type { Bound, BoundPredicate } from './bind-tree.js';
import { type ArrowBatch, arrowColumn, arrowReader } from './evaluate-arrow.js';
import { compileRow } from './evaluate-row.js';
import { compileVector, FALSE, NULL, TRUE } from './evaluate-vector.js';

export type { ArrowBatch } from './evaluate-arrow.js';
export { evaluateRow } from './evaluate-row.js';

/** What a condition is for one row. */
export const OUTCOME = { false: FALSE, null: NULL, true: TRUE } as const;

/** What a condition is for the rows of a batch. */
export interface Selection {
  /** One of `OUTCOME` a row. */
  readonly outcomes: Uint8Array;
  /** How many rows it is TRUE for. */
  readonly count: number;
}

/** A condition made ready for many batches. It keeps what it learned of a dictionary while that lives. */
export type Filter = (batch: ArrowBatch) => Selection;

/**
 * Compiles a condition for Arrow batches whose fields carry the schema's names; batches of any copy of apache-arrow do, with any Arrow type that holds
 * the column's values. Throws INVALID_INPUT, when run, for a batch that lacks a column.
 */
export function compileFilter(bound: BoundPredicate): Filter {
  const program = compileVector(bound.root);
  return (batch) => {
    const outcomes = program({ length: batch.numRows, column: (column) => arrowColumn(batch, column) });
    let count = 0;
    for (let row = 0; row < outcomes.length; row++) if (outcomes[row] === TRUE) count++;
    return { outcomes, count };
  };
}

/** The numbers of the rows that a condition is TRUE for, ascending. */
export function selectedRows(selection: Selection): Uint32Array {
  const rows = new Uint32Array(selection.count);
  let next = 0;
  for (let row = 0; row < selection.outcomes.length; row++)
    if (selection.outcomes[row] === TRUE) rows[next++] = row;
  return rows;
}

/** The rows that a condition is not TRUE for: FALSE or NULL, ascending. */
export function unselectedRows(selection: Selection): Uint32Array {
  const rows = new Uint32Array(selection.outcomes.length - selection.count);
  let next = 0;
  for (let row = 0; row < selection.outcomes.length; row++)
    if (selection.outcomes[row] !== TRUE) rows[next++] = row;
  return rows;
}

/** The values of an expression for each row of a batch, such as those of a generated column. */
export function evaluateColumn(bound: Bound, batch: ArrowBatch): { type: DataType; values: Datum[] } {
  const evaluate = compileRow(bound.root, (column) => arrowReader(arrowColumn(batch, column), column.type));
  const values: Datum[] = new Array(batch.numRows);
  for (let row = 0; row < batch.numRows; row++) values[row] = evaluate(row);
  return { type: bound.root.type, values };
}
