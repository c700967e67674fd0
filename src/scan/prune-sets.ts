import type { Datum } from '../schema/types.js';
import type { BoundColumn, BoundExpression } from './bind-tree.js';
import { columnsOf } from './bind-tree.js';
import { compileRow } from './evaluate-row.js';
import { isFloating } from './functions-cast.js';
import type { ColumnBounds } from './prune-bounds.js';
import { judge, type ValuesLeaf } from './prune-leaf.js';

/** The outcomes that a condition may have for the rows of a unit, as bits. The set is never too small. */
export const MAY_BE_TRUE = 1;
export const MAY_BE_FALSE = 2;
export const MAY_BE_NULL = 4;
export const ANYTHING = 7;

/** What is known of the units that conditions are judged by. */
export interface Knowledge {
  /** Columns that have one value in each unit: codes by unit id into distinct values; undefined for a value that cannot be read. */
  constant(
    column: BoundColumn,
  ): { readonly codes: ArrayLike<number>; readonly values: readonly (Datum | undefined)[] } | undefined;
  /** Undefined when nothing is known of a column. */
  bounds(column: BoundColumn): ColumnBounds | undefined;
  /** How many rows a unit has, counting deleted ones. */
  rows(id: number): number | undefined;
}

/** What a caller wants of an outcome set. */
interface Need {
  /** Only whether it holds TRUE; the rest is not looked at and taken as possible. */
  readonly trueOnly: boolean;
  /** Floating-point columns that other conditions hold to be a number: rows with NaN do not count. */
  readonly numbers: ReadonlySet<string>;
}
const EVERYTHING: Need = { trueOnly: false, numbers: new Set() };

/** The units for which a condition may be TRUE for a row; `units` ascending, a part of it is given. */
export function mayBeTrue(node: BoundExpression, units: Int32Array, known: Knowledge): Int32Array {
  return narrowed(node, units, known, new Set());
}

function narrowed(
  node: BoundExpression,
  units: Int32Array,
  known: Knowledge,
  numbers: ReadonlySet<string>,
): Int32Array {
  if (units.length === 0) return units;
  const constants = constantColumns(node, known);
  if (constants === undefined || constants.length > 1) {
    if (node.kind === 'and') {
      const all = new Set([...numbers, ...node.operands.flatMap(boundedAbove)]);
      return byCost(node.operands, known).reduce(
        (left, operand) => narrowed(operand, left, known, all),
        units,
      );
    }
    if (node.kind === 'or') {
      // Each operand is asked only about what none before it has kept.
      const dropped = byCost(node.operands, known).reduce(
        (left, operand) => without(left, narrowed(operand, left, known, numbers)),
        units,
      );
      return without(units, dropped);
    }
  }
  const sets = outcomeSets(node, units, known, { trueOnly: true, numbers });
  return unitsWhere(units, (i) => (sets[i]! & MAY_BE_TRUE) !== 0);
}

/** The units at the positions that pass. */
export function unitsWhere(units: Int32Array, passes: (position: number) => boolean): Int32Array {
  const kept = new Int32Array(units.length);
  let count = 0;
  for (let i = 0; i < units.length; i++) if (passes(i)) kept[count++] = units[i]!;
  return count === units.length ? units : kept.slice(0, count);
}

/** `units` without `taken`, both ascending, the second a part of the first. */
export function without(units: Int32Array, taken: Int32Array): Int32Array {
  let next = 0;
  return unitsWhere(units, (i) => {
    if (units[i] !== taken[next]) return true;
    next++;
    return false;
  });
}

/** Conditions on constant columns alone come first: they cost nothing and leave fewer units to the others. */
function byCost(operands: readonly BoundExpression[], known: Knowledge): BoundExpression[] {
  const cheap = operands.filter((each) => constantColumns(each, known) !== undefined);
  return [...cheap, ...operands.filter((each) => !cheap.includes(each))];
}

/** The floating-point columns that a condition can be TRUE for only when they are below a number. */
function boundedAbove(node: BoundExpression): string[] {
  const upper = node.kind === 'compare' && ['<', '<=', '='].includes(node.op) ? node : undefined;
  if (upper?.left.kind !== 'column' || !isFloating(upper.left.type) || upper.right.kind !== 'literal')
    return [];
  return Number.isNaN(upper.right.value) ? [] : [upper.left.key];
}

/** The outcome set of each unit. */
export function outcomeSets(
  node: BoundExpression,
  units: Int32Array,
  known: Knowledge,
  need: Need = EVERYTHING,
): Uint8Array {
  const constants = constantColumns(node, known);
  if (constants !== undefined && constants.length <= 1) return constantSets(node, constants[0], units, known);
  switch (node.kind) {
    case 'and':
      return junction(node.operands, units, known, AND_TABLE);
    case 'or':
      return junction(node.operands, units, known, OR_TABLE);
    case 'not':
      return outcomeSets(node.operand, units, known).map((set) => NOT_TABLE[set]!);
    case 'is': {
      const yes = node.value ? MAY_BE_TRUE : MAY_BE_FALSE;
      return outcomeSets(node.operand, units, known).map(
        (set) => ((set & yes) !== 0 ? MAY_BE_TRUE : 0) | ((set & ~yes & ANYTHING) !== 0 ? MAY_BE_FALSE : 0),
      );
    }
    default:
      if (constants !== undefined) return combinationSets(node, constants, units, known);
      return leafSets(node, units, known, need);
  }
}

/** The columns of a node when all are constant in each unit. */
function constantColumns(node: BoundExpression, known: Knowledge): BoundColumn[] | undefined {
  const columns = columnsOf(node);
  return columns.every((column) => known.constant(column) !== undefined) ? columns : undefined;
}

function junction(
  operands: readonly BoundExpression[],
  units: Int32Array,
  known: Knowledge,
  table: Uint8Array,
): Uint8Array {
  const result = outcomeSets(operands[0]!, units, known);
  for (const operand of operands.slice(1)) {
    const other = outcomeSets(operand, units, known);
    for (let i = 0; i < result.length; i++) result[i] = table[result[i]! * 8 + other[i]!]!;
  }
  return result;
}

/** Kleene's tables lifted to sets: every outcome of one side with every one of the other. */
function liftedTable(combine: (a: number, b: number) => number): Uint8Array {
  const table = new Uint8Array(64);
  for (let a = 0; a < 8; a++) {
    for (let b = 0; b < 8; b++) {
      for (let x = 1; x < 8; x <<= 1) {
        for (let y = 1; y < 8; y <<= 1)
          if ((a & x) !== 0 && (b & y) !== 0) table[a * 8 + b]! |= combine(x, y);
      }
    }
  }
  return table;
}
const AND_TABLE = liftedTable((a, b) => (a === 2 || b === 2 ? 2 : a === 4 || b === 4 ? 4 : 1));
const OR_TABLE = liftedTable((a, b) => (a === 1 || b === 1 ? 1 : a === 4 || b === 4 ? 4 : 2));
const NOT_TABLE = Uint8Array.from({ length: 8 }, (_, set) => ((set & 1) << 1) | ((set & 2) >> 1) | (set & 4));

const setOf = (value: Datum): number =>
  value === true ? MAY_BE_TRUE : value === null ? MAY_BE_NULL : MAY_BE_FALSE;

/** Each distinct value is judged once. */
function constantSets(
  node: BoundExpression,
  column: BoundColumn | undefined,
  units: Int32Array,
  known: Knowledge,
): Uint8Array {
  if (column === undefined)
    return new Uint8Array(units.length).fill(setOf(compileRow(node, () => () => null)(0)));
  const { codes, values } = known.constant(column)!;
  const judge = compileRow(node, () => (row) => values[row]!);
  const sets = Uint8Array.from(values, (value, i) => (value === undefined ? ANYTHING : setOf(judge(i))));
  const result = new Uint8Array(units.length);
  for (let i = 0; i < units.length; i++) result[i] = sets[codes[units[i]!]!]!;
  return result;
}

/** A condition that relates several constant columns: each combination is judged once. */
function combinationSets(
  node: BoundExpression,
  columns: readonly BoundColumn[],
  units: Int32Array,
  known: Knowledge,
): Uint8Array {
  const constants = new Map(columns.map((column) => [column.key, known.constant(column)!]));
  const judge = compileRow(node, (column) => {
    const { codes, values } = constants.get(column.key)!;
    return (unit) => values[codes[unit]!]!;
  });
  const seen = new Map<string, number>();
  return Uint8Array.from(units, (unit) => {
    const codes = [...constants.values()].map((each) => each.codes[unit]!);
    const key = codes.join();
    const found = seen.get(key);
    if (found !== undefined) return found;
    const readable = [...constants.values()].every((each) => each.values[each.codes[unit]!] !== undefined);
    const set = readable ? setOf(judge(unit)) : ANYTHING;
    seen.set(key, set);
    return set;
  });
}

/** A condition on a column that varies within a unit, by its bounds. */
function leafSets(node: BoundExpression, units: Int32Array, known: Knowledge, need: Need): Uint8Array {
  const result = new Uint8Array(units.length);
  const columns = columnsOf(node);
  const column = columns[0];
  const bounds = columns.length === 1 && column !== undefined ? known.bounds(column) : undefined;
  const leaf = bounds === undefined ? undefined : judge(node, column!, bounds, need.numbers.has(column!.key));
  if (bounds === undefined || leaf === undefined) return result.fill(ANYTHING);
  const allNull = (id: number, nulls: number | undefined): boolean =>
    nulls !== undefined && nulls > 0 && nulls === known.rows(id);
  for (let i = 0; i < units.length; i++) {
    const id = units[i]!;
    if (need.trueOnly && leaf.of === 'values') {
      const holds = leaf.mayBeTrue(id) && (bounds.known(id) || !allNull(id, bounds.nullCount(id)));
      result[i] = holds ? ANYTHING : ANYTHING & ~MAY_BE_TRUE;
      continue;
    }
    const nulls = bounds.nullCount(id);
    if (leaf.of === 'nulls') {
      result[i] = nulls === 0 ? MAY_BE_FALSE : allNull(id, nulls) ? MAY_BE_TRUE : MAY_BE_TRUE | MAY_BE_FALSE;
    } else {
      result[i] = allNull(id, nulls) ? MAY_BE_NULL : valuesSet(leaf, id) | (nulls === 0 ? 0 : MAY_BE_NULL);
    }
  }
  return result;
}

function valuesSet(leaf: ValuesLeaf, id: number): number {
  const holds = leaf.mayBeTrue(id);
  const fails = leaf.mayBeFalse(id);
  // Bounds that leave no outcome contradict each other; then they say nothing.
  if (!holds && !fails) return ANYTHING;
  return (holds ? MAY_BE_TRUE : 0) | (fails ? (leaf.missesAreNull ? MAY_BE_NULL : MAY_BE_FALSE) : 0);
}
