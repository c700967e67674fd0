import type { Datum } from '../schema/types.js';
import type { BoundColumn, BoundCompare, BoundExpression, BoundLike } from './bind-tree.js';
import { columnsOf } from './bind-tree.js';
import { ARROW, type ArrowColumn, arrowReader, validityOf } from './evaluate-arrow.js';
import { compareColumn, startsColumn } from './evaluate-compare.js';
import { compileRow } from './evaluate-row.js';

/** Outcomes in the order of three-valued logic: AND is the least, OR the greatest, NOT is 2 minus. */
export const FALSE = 0;
export const NULL = 1;
export const TRUE = 2;

/** Where the columns of the rows are. */
export interface Rows {
  readonly length: number;
  readonly column: (column: BoundColumn) => ArrowColumn;
}

/** Evaluates a condition over rows: one outcome a row. */
export type VectorProgram = (rows: Rows) => Uint8Array;

/** Makes a program of whole-column steps; parts that have none run row by row, and columns with a dictionary once for each of its entries. */
export function compileVector(node: BoundExpression): VectorProgram {
  switch (node.kind) {
    case 'and':
      return junction(node.operands, lower, FALSE);
    case 'or':
      return junction(node.operands, raise, TRUE);
    case 'not': {
      const operand = compileVector(node.operand);
      return (rows) => operand(rows).map((outcome) => TRUE - outcome);
    }
    case 'is': {
      const operand = compileVector(node.operand);
      const wanted = node.value ? TRUE : FALSE;
      return (rows) => operand(rows).map((outcome) => (outcome === wanted ? TRUE : FALSE));
    }
    default:
      return leaf(node);
  }
}

function junction(
  nodes: readonly BoundExpression[],
  meet: (result: Uint8Array, other: Uint8Array) => void,
  decided: number,
): VectorProgram {
  const programs = nodes.map(compileVector);
  return (rows) => {
    const result = programs[0]!(rows);
    for (const program of programs.slice(1)) {
      if (result.every((outcome) => outcome === decided)) break;
      meet(result, program(rows));
    }
    return result;
  };
}

// Two loops, since one that calls back for each row is many times slower.
function lower(result: Uint8Array, other: Uint8Array): void {
  for (let row = 0; row < result.length; row++) if (other[row]! < result[row]!) result[row] = other[row]!;
}

function raise(result: Uint8Array, other: Uint8Array): void {
  for (let row = 0; row < result.length; row++) if (other[row]! > result[row]!) result[row] = other[row]!;
}

function leaf(node: BoundExpression): VectorProgram {
  const columns = columnsOf(node);
  const direct = directProgram(node);
  const byRow = rowProgram(node);
  const only = columns.length === 1 ? columns[0]! : undefined;
  const known = new WeakMap<object, Uint8Array>();
  const plain: VectorProgram = (rows) => direct?.(rows) ?? byRow(rows);
  return (rows) => {
    const column = only === undefined ? undefined : rows.column(only);
    if (column === undefined || column.data.type.typeId !== ARROW.dictionary) return plain(rows);
    return overDictionary(rows, column, known, plain, node);
  };
}

/** Evaluates each entry of the dictionary once, then looks the rows' codes up. */
function overDictionary(
  rows: Rows,
  column: ArrowColumn,
  known: WeakMap<object, Uint8Array>,
  plain: VectorProgram,
  node: BoundExpression,
): Uint8Array {
  const dictionary = column.data.dictionary!;
  let outcomes = known.get(dictionary);
  if (outcomes === undefined) {
    outcomes = new Uint8Array(dictionary.length);
    let at = 0;
    for (const chunk of dictionary.data) {
      const part = plain({ length: chunk.length, column: () => ({ data: chunk, outer: [] }) });
      outcomes.set(part, at);
      at += chunk.length;
    }
    known.set(dictionary, outcomes);
  }
  const ofNull = outcomeOf(compileRow(node, () => () => null)(0));
  const codes = column.data.values as Int32Array;
  const valid = validityOf(column);
  const result = new Uint8Array(rows.length);
  for (let row = 0; row < rows.length; row++) {
    result[row] = valid === undefined || valid(row) ? outcomes[Number(codes[row])]! : ofNull;
  }
  return result;
}

/** Row by row, for everything. */
function rowProgram(node: BoundExpression): VectorProgram {
  return (rows) => {
    const evaluate = compileRow(node, (column) => arrowReader(rows.column(column), column.type));
    const result = new Uint8Array(rows.length);
    for (let row = 0; row < rows.length; row++) result[row] = outcomeOf(evaluate(row));
    return result;
  };
}

export function outcomeOf(value: Datum): number {
  return value === true ? TRUE : value === null ? NULL : FALSE;
}

/** A whole-column step for the common leaves; it gives undefined for a layout that it does not know. */
function directProgram(node: BoundExpression): ((rows: Rows) => Uint8Array | undefined) | undefined {
  if (node.kind === 'compare') return compareProgram(node);
  if (node.kind === 'like') return likeProgram(node);
  if (node.kind === 'isNull' && node.operand.kind === 'column') {
    const { operand } = node;
    return (rows) => {
      const valid = validityOf(rows.column(operand));
      const result = new Uint8Array(rows.length);
      if (valid !== undefined)
        for (let row = 0; row < rows.length; row++) result[row] = valid(row) ? FALSE : TRUE;
      return result;
    };
  }
  if (node.kind === 'literal') {
    return (rows) => new Uint8Array(rows.length).fill(outcomeOf(node.value));
  }
  return undefined;
}

function compareProgram({
  left,
  right,
  op,
  domain,
}: BoundCompare): ((rows: Rows) => Uint8Array | undefined) | undefined {
  if (left.kind !== 'column' || right.kind !== 'literal') return undefined;
  return (rows) => {
    const column = rows.column(left);
    const result = compareColumn(column.data, left.type, op, domain, right.value, rows.length);
    return result === undefined ? undefined : withNulls(result, column);
  };
}

function likeProgram({ operand, compiled }: BoundLike): ((rows: Rows) => Uint8Array | undefined) | undefined {
  if (operand.kind !== 'column' || compiled === undefined || !(compiled.exact || compiled.prefixOnly))
    return undefined;
  return (rows) => {
    const column = rows.column(operand);
    const result = startsColumn(column.data, compiled.prefix, compiled.exact, rows.length);
    return result === undefined ? undefined : withNulls(result, column);
  };
}

function withNulls(result: Uint8Array, column: ArrowColumn): Uint8Array {
  const valid = validityOf(column);
  if (valid !== undefined) for (let row = 0; row < result.length; row++) if (!valid(row)) result[row] = NULL;
  return result;
}
