import type { DataType, Datum } from '../schema/types.js';
import { compareDatum } from '../schema/value.js';
import type {
  BoundColumn,
  BoundCompare,
  BoundExpression,
  BoundIn,
  BoundLike,
  BoundOperator,
} from './bind-tree.js';
import { compileRow } from './evaluate-row.js';
import { isFloating } from './functions-cast.js';
import { type ColumnBounds, type Sign, UNKNOWN } from './prune-bounds.js';
import { monotoneColumn } from './prune-monotone.js';

/** A condition on one column judged by the column's bounds: what it may be for the values that are not NULL. */
export interface ValuesLeaf {
  readonly of: 'values';
  readonly mayBeTrue: (id: number) => boolean;
  readonly mayBeFalse: (id: number) => boolean;
  /** Where it is not TRUE it is NULL: IN with a NULL in the list. */
  readonly missesAreNull: boolean;
}
/** IS NULL, which the count of NULLs decides. */
export interface NullsLeaf {
  readonly of: 'nulls';
}

/** Makes a condition ready to be judged; undefined when bounds say nothing of it. `isNumber`: rows with NaN do not count. */
export function judge(
  node: BoundExpression,
  column: BoundColumn,
  bounds: ColumnBounds,
  isNumber: boolean,
): ValuesLeaf | NullsLeaf | undefined {
  switch (node.kind) {
    case 'isNull':
      return monotoneColumn(node.operand) === undefined ? undefined : { of: 'nulls' };
    case 'compare':
      return compareLeaf(node, column, bounds, isNumber);
    case 'in':
      return inLeaf(node, column, bounds);
    case 'like':
      return likeLeaf(node, bounds);
    default:
      return undefined;
  }
}

function leaf(
  mayBeTrue: (id: number) => boolean,
  mayBeFalse: (id: number) => boolean,
  missesAreNull = false,
): ValuesLeaf {
  return { of: 'values', mayBeTrue, mayBeFalse, missesAreNull };
}

const OPPOSITE: Readonly<Record<string, BoundOperator>> = { '<': '>=', '<=': '>', '>': '<=', '>=': '<' };

function compareLeaf(
  node: BoundCompare,
  column: BoundColumn,
  bounds: ColumnBounds,
  isNumber: boolean,
): ValuesLeaf | undefined {
  const { op, left, right, domain } = node;
  if (right.kind !== 'literal' || op === '<=>' || monotoneColumn(left) === undefined) return undefined;
  const low = signOf('min', left, bounds, domain, right.value);
  const high = signOf('max', left, bounds, domain, right.value);
  // Statistics of floating-point columns may leave NaN out, which is above everything.
  const maybeNaN = isFloating(column.type);
  const top: Sign = maybeNaN && !isNumber ? () => UNKNOWN : high;
  if (op === '=') {
    const wantsNaN = Number.isNaN(right.value);
    return leaf(
      (id) => wantsNaN || (reachesDown(low(id)) && reachesUp(high(id))),
      (id) => maybeNaN || low(id) !== 0 || high(id) !== 0,
    );
  }
  const opposite = OPPOSITE[op]!;
  return leaf(
    (id) => someHolds(op, low, top, id),
    (id) => someHolds(opposite, low, maybeNaN ? () => UNKNOWN : high, id),
  );
}

const reachesDown = (low: number): boolean => low === UNKNOWN || low <= 0;
const reachesUp = (high: number): boolean => high >= 0;

/** Whether a value between the bounds can be in the relation to the literal, by the signs of the bounds minus it. */
function someHolds(op: BoundOperator, low: Sign, high: Sign, id: number): boolean {
  if (op === '<' || op === '<=') {
    const sign = low(id);
    return sign === UNKNOWN || (op === '<' ? sign < 0 : sign <= 0);
  }
  const sign = high(id);
  return op === '>' ? sign > 0 : sign >= 0;
}

/** Bounds of a function that never decreases are its values at the bounds. */
function signOf(
  bound: 'min' | 'max',
  expression: BoundExpression,
  bounds: ColumnBounds,
  domain: DataType,
  literal: Datum,
): Sign {
  if (expression.kind === 'column') return bounds.sign(bound, literal);
  const image = imageOf(expression);
  return (id) => {
    const value = image(bounds[bound](id));
    return value === undefined ? UNKNOWN : Math.sign(compareDatum(domain, value, literal));
  };
}

function imageOf(expression: BoundExpression): (value: Datum | undefined) => Datum | undefined {
  if (expression.kind === 'column') return (value) => value ?? undefined;
  let given: Datum = null;
  const compute = compileRow(expression, () => () => given);
  return (value) => {
    if (value === undefined || value === null) return undefined;
    given = value;
    return compute(0) ?? undefined;
  };
}

function inLeaf(node: BoundIn, column: BoundColumn, bounds: ColumnBounds): ValuesLeaf | undefined {
  const { values, domain, operand } = node;
  if (monotoneColumn(operand) === undefined) return undefined;
  if (values.length === 0)
    return leaf(
      () => false,
      () => true,
      node.hasNull,
    );
  const image = imageOf(operand);
  const hasNaN = values.some((value) => Number.isNaN(value));
  const aboveAll = signOf('min', operand, bounds, domain, values.at(-1)!);
  const belowAll = signOf('max', operand, bounds, domain, values[0]!);
  const range = (id: number): [Datum | undefined, Datum | undefined] => [
    image(bounds.min(id)),
    image(bounds.max(id)),
  ];
  const mayBeTrue = (id: number): boolean => {
    if (hasNaN) return true;
    // Most units are decided by the ends of the list, without reading their bounds as values.
    if (aboveAll(id) === 1 || belowAll(id) === -1) return false;
    const [min, max] = range(id);
    const candidate = min === undefined ? values[0]! : firstFrom(values, min, domain);
    return candidate !== undefined && (max === undefined || compareDatum(domain, candidate, max) <= 0);
  };
  const mayBeFalse = (id: number): boolean => {
    const [min, max] = range(id);
    if (isFloating(column.type) || min === undefined || max === undefined) return true;
    return compareDatum(domain, min, max) !== 0 || !mayBeTrue(id);
  };
  return leaf(mayBeTrue, mayBeFalse, node.hasNull);
}

/** The first of ascending values that is not below `least`. */
function firstFrom(values: readonly Datum[], least: Datum, type: DataType): Datum | undefined {
  let from = 0;
  let to = values.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (compareDatum(type, values[middle]!, least) < 0) from = middle + 1;
    else to = middle;
  }
  return values[from];
}

function likeLeaf({ compiled, operand }: BoundLike, bounds: ColumnBounds): ValuesLeaf | undefined {
  if (operand.kind !== 'column' || compiled === undefined) return undefined;
  const { prefix, prefixOnly } = compiled;
  if (prefix === '')
    return prefixOnly
      ? leaf(
          () => true,
          () => false,
        )
      : undefined;
  const low = bounds.sign('min', prefix);
  const high = bounds.sign('max', prefix);
  const starts = (value: Datum | undefined): boolean => typeof value === 'string' && value.startsWith(prefix);
  return leaf(
    // A minimum above the prefix is out of reach only when it does not start with it.
    (id) => high(id) >= 0 && (low(id) !== 1 || starts(bounds.min(id))),
    (id) => !(prefixOnly && starts(bounds.min(id)) && starts(bounds.max(id))),
  );
}
