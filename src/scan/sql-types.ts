import type { DataType, PrimitiveName } from '../schema/types.js';

const NAMES: ReadonlyMap<string, PrimitiveName> = new Map([
  ['boolean', 'boolean'],
  ['tinyint', 'byte'],
  ['byte', 'byte'],
  ['smallint', 'short'],
  ['short', 'short'],
  ['int', 'integer'],
  ['integer', 'integer'],
  ['bigint', 'long'],
  ['long', 'long'],
  ['float', 'float'],
  ['real', 'float'],
  ['double', 'double'],
  ['string', 'string'],
  ['varchar', 'string'],
  ['char', 'string'],
  ['character', 'string'],
  ['binary', 'binary'],
  ['date', 'date'],
  ['timestamp', 'timestamp'],
  ['timestamp_ltz', 'timestamp'],
  ['timestamp_ntz', 'timestamp_ntz'],
]);
const DECIMAL_NAMES = new Set(['decimal', 'dec', 'numeric']);

/** The type that a SQL name with its parameters means in CAST, or undefined. VARCHAR(n) and CHAR(n) are strings, not cut. */
export function typeNamed(name: string, parameters: readonly number[] = []): DataType | undefined {
  const lower = name.toLowerCase();
  if (DECIMAL_NAMES.has(lower)) {
    const [precision = 10, scale = 0, ...more] = parameters;
    if (more.length > 0 || precision < 1 || precision > 38 || scale > precision) return undefined;
    return { type: 'decimal', precision, scale };
  }
  const type = NAMES.get(lower);
  if (type === undefined) return undefined;
  const counted = lower === 'varchar' || lower.startsWith('char');
  return parameters.length === (counted ? 1 : 0) ? { type } : undefined;
}

/** The names that also are functions of one argument: `date(ts)` is CAST(ts AS DATE). */
export function castNamed(name: string): DataType | undefined {
  const lower = name.toLowerCase();
  if (lower === 'to_date') return { type: 'date' };
  if (lower === 'to_timestamp') return { type: 'timestamp' };
  if (['varchar', 'char', 'character', 'integer', 'long', 'short', 'byte', 'real'].includes(lower))
    return undefined;
  return typeNamed(lower);
}
