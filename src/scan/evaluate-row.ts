import type { DataType, Datum } from '../schema/types.js';
import { compareDatum } from '../schema/value.js';
import type { Bound, BoundColumn, BoundExpression, BoundIn } from './bind-tree.js';
import { arithmeticDatum, negateDatum } from './functions-arithmetic.js';
import { castDatum } from './functions-cast.js';
import { compileLike } from './functions-like.js';

/** Gives a column's value in a row. */
export type ColumnReader = (row: number) => Datum;

/** Turns a bound expression into a function of the row number; TRUE, FALSE and NULL are true, false and null. */
export function compileRow(node: BoundExpression, read: (column: BoundColumn) => ColumnReader): ColumnReader {
  const compile = (each: BoundExpression): ColumnReader => compileRow(each, read);
  switch (node.kind) {
    case 'column':
      return read(node);
    case 'literal':
      return () => node.value;
    case 'compare':
      return compileCompare(node.op, node.domain, compile(node.left), compile(node.right));
    case 'in':
      return compileIn(node, compile(node.operand));
    case 'like': {
      const operand = compile(node.operand);
      const { compiled } = node;
      if (compiled !== undefined) return nullable(operand, (value) => compiled.test(value as string));
      const pattern = compile(node.pattern);
      return (row) => {
        const value = operand(row);
        const text = pattern(row);
        return value === null || text === null
          ? null
          : compileLike(text as string, node.escape).test(value as string);
      };
    }
    case 'isNull': {
      const operand = compile(node.operand);
      return (row) => operand(row) === null;
    }
    case 'is': {
      const operand = compile(node.operand);
      return (row) => operand(row) === node.value;
    }
    case 'not':
      return nullable(compile(node.operand), (value) => value !== true);
    case 'and':
      return compileJunction(node.operands.map(compile), false);
    case 'or':
      return compileJunction(node.operands.map(compile), true);
    case 'cast': {
      const from = node.operand.type;
      return nullable(compile(node.operand), (value) => castDatum(value, from, node.type));
    }
    case 'negate':
      return nullable(compile(node.operand), (value) => negateDatum(value, node.type));
    case 'arithmetic': {
      const left = compile(node.left);
      const right = compile(node.right);
      const types = [node.left.type, node.right.type, node.type] as const;
      return (row) => {
        const a = left(row);
        const b = right(row);
        return a === null || b === null ? null : arithmeticDatum(node.op, a, b, ...types);
      };
    }
    case 'case': {
      const branches = node.branches.map(({ when, result }) => [compile(when), compile(result)] as const);
      const otherwise = compile(node.otherwise);
      return (row) => (branches.find(([when]) => when(row) === true)?.[1] ?? otherwise)(row);
    }
    case 'call': {
      const args = node.args.map(compile);
      const types = node.args.map((each) => each.type);
      const { evaluate, seesNull } = node.definition;
      return (row) => {
        const values = args.map((each) => each(row));
        return seesNull !== true && values.includes(null) ? null : evaluate(values, types);
      };
    }
  }
}

/** The value of an expression for one row, its columns given by a function. */
export function evaluateRow(bound: Bound, getDatum: (column: BoundColumn) => Datum): Datum {
  return compileRow(bound.root, (column) => () => getDatum(column))(0);
}

function nullable(operand: ColumnReader, of: (value: Datum) => Datum): ColumnReader {
  return (row) => {
    const value = operand(row);
    return value === null ? null : of(value);
  };
}

function compileCompare(op: string, domain: DataType, left: ColumnReader, right: ColumnReader): ColumnReader {
  if (op === '<=>') {
    return (row) => {
      const a = left(row);
      const b = right(row);
      return a === null || b === null ? a === b : compareDatum(domain, a, b) === 0;
    };
  }
  const holds = SIGN_TESTS[op]!;
  return (row) => {
    const a = left(row);
    const b = right(row);
    return a === null || b === null ? null : holds(compareDatum(domain, a, b));
  };
}

const SIGN_TESTS: Readonly<Record<string, (sign: number) => boolean>> = {
  '=': (sign) => sign === 0,
  '<': (sign) => sign < 0,
  '<=': (sign) => sign <= 0,
  '>': (sign) => sign > 0,
  '>=': (sign) => sign >= 0,
};

/** AND (`decides` false) and OR (`decides` true): the deciding value wins over NULL. */
function compileJunction(operands: readonly ColumnReader[], decides: boolean): ColumnReader {
  return (row) => {
    let result: Datum = !decides;
    for (const operand of operands) {
      const value = operand(row);
      if (value === decides) return decides;
      if (value === null) result = null;
    }
    return result;
  };
}

function compileIn(node: BoundIn, operand: ColumnReader): ColumnReader {
  const has = membership(node);
  return nullable(operand, (value) => (has(value) ? true : node.hasNull ? null : false));
}

/** Whether a value, not NULL, is in the list. */
export function membership(node: BoundIn): (value: Datum) => boolean {
  if (node.domain.type === 'binary') {
    const texts = new Set(node.values.map(hexOf));
    return (value) => texts.has(hexOf(value));
  }
  // Sets hold NaN equal to itself and -0 equal to 0, as SQL does.
  const values = new Set(node.values);
  return (value) => values.has(value);
}

function hexOf(value: Datum): string {
  return Buffer.from(value as Uint8Array).toString('hex');
}
