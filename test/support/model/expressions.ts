import {
  type Cell,
  type Cells,
  type CellType,
  compareCells,
  fromHundredths,
  hundredths,
  literal,
  typeOf,
} from './cells.js';

type Operator = '=' | '<>' | '<' | '<=' | '>' | '>=' | '<=>';

/** A condition as data. Columns may be qualified: `source.n`. */
export type Condition =
  | { readonly cmp: Operator; readonly col: string; readonly value: Cell }
  | { readonly cmp: Operator; readonly col: string; readonly other: string }
  | { readonly isNull: string }
  | { readonly in: string; readonly values: readonly Cell[] }
  | { readonly between: string; readonly low: Cell; readonly high: Cell }
  | { readonly like: string; readonly pattern: string }
  | { readonly not: Condition }
  | { readonly and: readonly Condition[] }
  | { readonly or: readonly Condition[] }
  | { readonly is: boolean | null };

/** What a column becomes, as data. */
export type Value =
  | { readonly lit: Cell; readonly as: CellType }
  | { readonly copy: string }
  | { readonly plus: string; readonly k: number }
  | { readonly concat: string; readonly suffix: string }
  | { readonly coalesce: string; readonly otherwise: Cell };

/** TRUE, FALSE or NULL. */
export function holds(condition: Condition, row: Cells): boolean | null {
  if ('cmp' in condition) {
    const { cmp, col } = condition;
    const right = 'other' in condition ? row[condition.other]! : condition.value;
    return compared(cmp, typeOf(col), row[col]!, right);
  }
  if ('isNull' in condition) return row[condition.isNull] === null;
  if ('in' in condition) {
    const name = condition.in;
    return any(condition.values.map((value) => compared('=', typeOf(name), row[name]!, value)));
  }
  if ('between' in condition) {
    const name = condition.between;
    const type = typeOf(name);
    return all([
      compared('>=', type, row[name]!, condition.low),
      compared('<=', type, row[name]!, condition.high),
    ]);
  }
  if ('like' in condition) {
    const text = row[condition.like] as string | null;
    return text === null ? null : likeTest(condition.pattern).test(text);
  }
  if ('not' in condition) return opposite(holds(condition.not, row));
  if ('and' in condition) return all(condition.and.map((each) => holds(each, row)));
  if ('or' in condition) return any(condition.or.map((each) => holds(each, row)));
  return condition.is;
}

export function cellFor(value: Value, row: Cells): Cell {
  if ('lit' in value) return value.lit;
  if ('copy' in value) return row[value.copy]!;
  if ('concat' in value) {
    const text = row[value.concat]!;
    return text === null ? null : `${text}${value.suffix}`;
  }
  if ('coalesce' in value) return row[value.coalesce] ?? value.otherwise;
  const cell = row[value.plus]!;
  if (cell === null) return null;
  switch (typeOf(value.plus)) {
    case 'long':
      return String(BigInt(cell as string) + BigInt(value.k));
    case 'decimal(12,2)':
      return fromHundredths(hundredths(cell as string) + BigInt(value.k) * 100n);
    case 'date':
      return new Date(Date.parse(`${cell}T00:00:00Z`) + value.k * 86_400_000).toISOString().slice(0, 10);
    default:
      return (cell as number) + value.k;
  }
}

/** How an engine spells what Spark SQL and this library spell alike. */
export interface Dialect {
  readonly literal: (type: CellType, cell: Cell) => string;
  readonly nullSafe: string;
  /** A column that is compared. */
  readonly column?: (name: string) => string;
}

const SPARK: Dialect = { literal, nullSafe: '<=>' };

/** A condition in SQL. `qualified` gives a column the name that it has in the statement. */
export function conditionSql(
  condition: Condition,
  qualified: (name: string) => string = String,
  dialect = SPARK,
): string {
  const sql = (each: Condition): string => `(${conditionSql(each, qualified, dialect)})`;
  const { literal, nullSafe } = dialect;
  const column = (name: string): string => dialect.column?.(qualified(name)) ?? qualified(name);
  if ('cmp' in condition) {
    const { cmp, col } = condition;
    const right = 'other' in condition ? column(condition.other) : literal(typeOf(col), condition.value);
    return cmp === '<=>' ? `(${column(col)} ${nullSafe} ${right})` : `${column(col)} ${cmp} ${right}`;
  }
  if ('isNull' in condition) return `${column(condition.isNull)} IS NULL`;
  if ('in' in condition) {
    const type = typeOf(condition.in);
    return `${column(condition.in)} IN (${condition.values.map((value) => literal(type, value)).join(', ')})`;
  }
  if ('between' in condition) {
    const { between, low, high } = condition;
    return `${column(between)} BETWEEN ${literal(typeOf(between), low)} AND ${literal(typeOf(between), high)}`;
  }
  if ('like' in condition) return `${column(condition.like)} LIKE ${literal('string', condition.pattern)}`;
  if ('not' in condition) return `NOT ${sql(condition.not)}`;
  if ('and' in condition) return condition.and.map(sql).join(' AND ');
  if ('or' in condition) return condition.or.map(sql).join(' OR ');
  return condition.is === null ? 'CAST(NULL AS BOOLEAN)' : String(condition.is);
}

export function valueSql(
  value: Value,
  column: (name: string) => string = String,
  { literal } = SPARK,
): string {
  if ('lit' in value) return literal(value.as, value.lit);
  if ('copy' in value) return column(value.copy);
  if ('concat' in value) return `concat(${column(value.concat)}, ${literal('string', value.suffix)})`;
  if ('coalesce' in value) {
    return `coalesce(${column(value.coalesce)}, ${literal(typeOf(value.coalesce), value.otherwise)})`;
  }
  return typeOf(value.plus) === 'date'
    ? `date_add(${column(value.plus)}, ${value.k})`
    : `${column(value.plus)} + ${value.k}`;
}

function compared(op: Operator, type: CellType, a: Cell, b: Cell): boolean | null {
  if (a === null || b === null) return op === '<=>' ? a === b : null;
  const sign = compareCells(type, a, b);
  switch (op) {
    case '=':
    case '<=>':
      return sign === 0;
    case '<>':
      return sign !== 0;
    case '<':
      return sign < 0;
    case '<=':
      return sign <= 0;
    case '>':
      return sign > 0;
    case '>=':
      return sign >= 0;
  }
}

function opposite(truth: boolean | null): boolean | null {
  return truth === null ? null : !truth;
}

function all(truths: readonly (boolean | null)[]): boolean | null {
  return truths.includes(false) ? false : truths.includes(null) ? null : true;
}

function any(truths: readonly (boolean | null)[]): boolean | null {
  return truths.includes(true) ? true : truths.includes(null) ? null : false;
}

/** Patterns here have no escapes. */
function likeTest(pattern: string): RegExp {
  const source = pattern
    .replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
    .replace(/%/g, '[^]*')
    .replace(/_/g, '[^]');
  return new RegExp(`^${source}$`, 'u');
}
