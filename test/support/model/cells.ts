import type { Row } from '../../../src/index.js';

/**
 * A cell as canonical lines spell it: longs, decimals, dates, timestamps and strings are text, doubles that JSON has no number for are `NaN`, `Infinity`,
 * `-Infinity` and `-0`.
 */
export type Cell = string | number | boolean | null;
export type Cells = Readonly<Record<string, Cell>>;

/**
 * The columns of the tables that random sequences work on, with their types. `x` is there in some versions only, or is called `y`; `w` is a short that becomes
 * an integer once it is widened.
 */
export const TYPES = {
  id: 'long',
  n: 'integer',
  d: 'date',
  m: 'decimal(12,2)',
  t: 'timestamp',
  f: 'double',
  b: 'boolean',
  s: 'string',
  p: 'string',
  x: 'integer',
  y: 'integer',
  w: 'short',
} as const;
export type Column = keyof typeof TYPES;
export type CellType = (typeof TYPES)[Column];

/** The type of a column, however it is qualified. */
export function typeOf(name: string): CellType {
  return TYPES[name.slice(name.lastIndexOf('.') + 1) as Column];
}

export function ddlOf(columns: readonly Column[], isWide = false): string {
  return columns.map((column) => `${column} ${ddlType(TYPES[column], isWide)}`).join(', ');
}

function ddlType(type: CellType, isWide: boolean): string {
  return type === 'integer' || (type === 'short' && isWide) ? 'int' : type;
}

/** The order of two cells that are not NULL, as SQL sees it: strings by UTF-8 bytes, NaN equal to itself and above all, -0 equal to 0. */
export function compareCells(type: CellType, a: Cell, b: Cell): number {
  switch (type) {
    case 'long':
      return sign(BigInt(a as string), BigInt(b as string));
    case 'decimal(12,2)':
      return sign(hundredths(a as string), hundredths(b as string));
    case 'double': {
      const [x, y] = [Number(a), Number(b)];
      if (Number.isNaN(x) || Number.isNaN(y)) return sign(Number.isNaN(x), Number.isNaN(y));
      return sign(x, y);
    }
    case 'integer':
    case 'short':
    case 'boolean':
      return sign(a as number, b as number);
    default:
      return Buffer.compare(Buffer.from(a as string), Buffer.from(b as string));
  }
}

/** What a cell is as part of a key: equal texts for equal cells. */
export function keyOf(cells: Cells, columns: readonly string[]): string {
  return JSON.stringify(
    columns.map((column) => {
      const cell = cells[column]!;
      return typeOf(column) === 'double' && cell === '-0' ? 0 : cell;
    }),
  );
}

/** A decimal of two places as a whole number. */
export function hundredths(text: string): bigint {
  return BigInt(text.replace('.', ''));
}

export function fromHundredths(value: bigint): string {
  const digits = (value < 0n ? -value : value).toString().padStart(3, '0');
  return `${value < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** The text of a literal in Spark SQL. */
export function literal(type: CellType, cell: Cell): string {
  if (cell === null) return `CAST(NULL AS ${sqlType(type)})`;
  switch (type) {
    case 'long':
      return cell === '-9223372036854775808' ? '(-9223372036854775807L - 1L)' : `${cell}L`;
    case 'date':
      return `DATE '${cell}'`;
    case 'timestamp':
      return `TIMESTAMP '${cell}'`;
    case 'double':
      return typeof cell === 'string' && cell !== '-0'
        ? `CAST('${cell}' AS DOUBLE)`
        : `${cell === '-0' ? '-0.0' : cell}D`;
    case 'string':
      return `'${(cell as string).replace(/\\/g, '\\\\').replace(/'/g, "\\'").replace(/\n/g, '\\n')}'`;
    default:
      return String(cell);
  }
}

export function sqlType(type: CellType): string {
  return type === 'long' ? 'BIGINT' : type === 'integer' || type === 'short' ? 'INT' : type.toUpperCase();
}

/** A row as this library's writers take it. */
export function rowOf(cells: Cells): Row {
  return Object.fromEntries(
    Object.entries(cells).map(([name, cell]) => {
      if (cell === null) return [name, null];
      if (typeOf(name) === 'long') return [name, BigInt(cell as string)];
      return [name, typeOf(name) === 'double' ? Number(cell) : cell];
    }),
  );
}

/** The canonical line of a row. */
export function lineOf(cells: Cells, columns: readonly Column[]): string {
  return `{${columns.map((column) => `${JSON.stringify(column)}:${JSON.stringify(cells[column] ?? null)}`).join(',')}}`;
}

function sign<T extends bigint | number | boolean>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
