import type { DataType } from '../schema/types.js';
import type { BoundColumn, BoundExpression } from './bind-tree.js';
import { asDecimal } from './functions-arithmetic.js';
import { isFloating, isInteger, isTemporal } from './functions-cast.js';

const WIDTHS = ['byte', 'short', 'integer', 'long'];

/**
 * The column of an expression that never decreases as the column grows and is NULL only where the column is; undefined for any other expression. Bounds of
 * the column then give bounds of the expression.
 */
export function monotoneColumn(node: BoundExpression): BoundColumn | undefined {
  if (node.kind === 'column') return isNestedType(node.type) ? undefined : node;
  if (node.kind === 'cast') return keepsOrder(node.operand.type, node.type) ? below(node.operand) : undefined;
  if (node.kind !== 'call') return undefined;
  const at = node.definition.monotone;
  if (at === undefined) return undefined;
  const constant = node.args.every((each, i) => i === at || (each.kind === 'literal' && each.value !== null));
  return constant ? below(node.args[at]!) : undefined;
}

/** NaN has no place in the bounds of a column, so nothing is made of floating-point columns. */
function below(node: BoundExpression): BoundColumn | undefined {
  return isFloating(node.type) ? undefined : monotoneColumn(node);
}

function isNestedType(type: DataType): boolean {
  return ['struct', 'array', 'map', 'variant', 'void'].includes(type.type);
}

function keepsOrder(from: DataType, to: DataType): boolean {
  if (isTemporal(from) && isTemporal(to)) return true;
  if (isInteger(from) && isInteger(to)) return WIDTHS.indexOf(from.type) <= WIDTHS.indexOf(to.type);
  const exact = asDecimal(from);
  if (exact === undefined) return false;
  if (to.type === 'double') return true;
  return (
    to.type === 'decimal' &&
    exact.scale <= to.scale &&
    exact.precision - exact.scale <= to.precision - to.scale
  );
}
