import { type ErrorCode, TableError } from '../errors.js';

/** One step from a column to a cell inside it: a field's name, an element's index, or `key` / `value` of a map's entry. */
type Step = string | number;

/** Why a value is refused, without where it stands: thrown by what converts one value, placed by what walks the rows. */
export class Refusal {
  readonly expected: string;
  readonly hint: string | undefined;

  constructor(expected: string, hint?: string) {
    this.expected = expected;
    this.hint = hint;
  }
}

/** A refused cell on its way up: `index` counts in the column being built, `path` leads from there to the cell. */
export class CellFault {
  readonly index: number;
  readonly path: readonly Step[];
  readonly expected: string;
  readonly got: string;
  readonly hint: string | undefined;
  readonly code: ErrorCode;

  constructor(fault: {
    index: number;
    path?: readonly Step[];
    expected: string;
    got: string;
    hint?: string;
    code?: ErrorCode;
  }) {
    this.index = fault.index;
    this.path = fault.path ?? [];
    this.expected = fault.expected;
    this.got = fault.got;
    this.hint = fault.hint;
    this.code = fault.code ?? 'INVALID_ROW';
  }

  /** The same fault seen from the column around: another index, one step more. */
  within(index: number, ...steps: readonly Step[]): CellFault {
    return new CellFault({ ...this, index, path: [...steps, ...this.path] });
  }
}

/** The error a caller sees, with `row` (counted from 0), `column`, `expected` and `got` in its context. */
export function cellError(fault: CellFault, firstRow: number): TableError {
  const column = columnText(fault.path);
  if (fault.index < 0) return columnError(fault, column);
  const row = firstRow + fault.index;
  const hint = fault.hint === undefined ? '' : ` ${fault.hint}`;
  const message =
    fault.code === 'UNKNOWN_COLUMN'
      ? `Row ${row} (counted from 0) has '${column}', which is not a column of the table.${hint}`
      : `Row ${row} (counted from 0)${column === '' ? '' : `, column '${column}'`}: expected ${fault.expected}, got ${fault.got}.${hint}`;
  return new TableError(fault.code, message, { row, column, expected: fault.expected, got: fault.got });
}

/** A fault of a whole Arrow column, whatever its rows. */
function columnError(fault: CellFault, column: string): TableError {
  const hint = fault.hint === undefined ? '' : ` ${fault.hint}`;
  const message =
    fault.code === 'UNKNOWN_COLUMN'
      ? `The Arrow data has '${column}', which is not a column of the table.${hint}`
      : `Arrow column '${column}': expected ${fault.expected}, got ${fault.got}.${hint}`;
  return new TableError(fault.code, message, { column, expected: fault.expected, got: fault.got });
}

function columnText(path: readonly Step[]): string {
  let text = '';
  for (const step of path) text += typeof step === 'number' ? `[${step}]` : text === '' ? step : `.${step}`;
  return text;
}

/** A value as messages show it, short. */
export function describeValue(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return `string ${JSON.stringify(value.length <= 60 ? value : `${value.slice(0, 60)}...`)}`;
    case 'number':
      return `number ${Object.is(value, -0) ? '-0' : value}`;
    case 'bigint':
      return `bigint ${value}`;
    case 'boolean':
      return `boolean ${value}`;
    case 'undefined':
      return 'undefined';
    case 'object':
      return describeObject(value);
    default:
      return `a ${typeof value}`;
  }
}

function describeObject(value: object | null): string {
  if (value === null) return 'NULL';
  if (value instanceof Date)
    return Number.isNaN(value.getTime()) ? 'an invalid Date' : `Date ${value.toISOString()}`;
  if (Array.isArray(value)) return `an array of ${value.length}`;
  const tag: unknown = Reflect.get(value, Symbol.toStringTag);
  if (typeof tag === 'string' && tag.startsWith('Temporal.')) return `${tag} ${value}`;
  const name: unknown = Object.getPrototypeOf(value)?.constructor?.name;
  return typeof name === 'string' && name !== '' && name !== 'Object' ? `a ${name}` : 'an object';
}
