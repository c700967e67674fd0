import { TableError } from '../errors.js';
import { bindExpression } from '../scan/bind.js';
import { evaluateRow } from '../scan/evaluate.js';
import { castDatum } from '../scan/functions-cast.js';
import { parseExpression } from '../scan/sql.js';
import { type Token, tokenize } from '../scan/sql-tokens.js';
import type { DataType, Datum, StructField } from '../schema/types.js';
import { converted } from './set.js';

/** The member of a column's metadata that holds the SQL text of its default (protocol: Default Columns). */
export const DEFAULT = 'CURRENT_DEFAULT';

/** Defaults alone may ask the clock: of an instant in ISO form without its Z, in UTC. */
const CLOCK: ReadonlyMap<string, (instant: string) => string> = new Map([
  ['current_timestamp', (instant) => `timestamp '${instant}Z'`],
  ['now', (instant) => `timestamp '${instant}Z'`],
  ['localtimestamp', (instant) => `timestamp_ntz '${instant}'`],
  ['current_date', (instant) => `date '${instant.slice(0, 10)}'`],
  ['curdate', (instant) => `date '${instant.slice(0, 10)}'`],
]);

/**
 * The value of a default at an instant, milliseconds since the Unix epoch: the same for all rows of one write. Expressions are made of constants and of
 * `current_timestamp()`, `now()`, `localtimestamp()`, `current_date()` and `curdate()`, in UTC. Throws `INVALID_PREDICATE` and `UNKNOWN_COLUMN` for any other,
 * `INVALID_ROW` for a value that the column cannot hold without loss.
 */
export function defaultValue(field: StructField, text: string, now: number): Datum {
  const settled = withoutClock(text, now);
  const bound = bindExpression(parseExpression(settled), { type: 'struct', fields: [] });
  const { type } = bound.root;
  const value = evaluateRow(bound, () => null);
  // As other engines have it, of what time it is a date takes the day.
  if (settled !== text && isTime(type) && isTime(field.dataType))
    return castDatum(value, type, field.dataType);
  return converted(value, type, field, text);
}

function isTime({ type }: DataType): boolean {
  return type === 'date' || type === 'timestamp' || type === 'timestamp_ntz';
}

/** The text with literals for the functions of the clock; the same text where there are none. */
function withoutClock(text: string, now: number): string {
  const instant = new Date(now).toISOString().slice(0, -1);
  const tokens = tokenize(text);
  let settled = '';
  let from = 0;
  for (let i = 0; i < tokens.length; i++) {
    const literal = tokens[i]!.kind === 'word' ? CLOCK.get(tokens[i]!.text.toLowerCase()) : undefined;
    if (literal === undefined) continue;
    const isCall = isSymbol(tokens[i + 1], '(') && isSymbol(tokens[i + 2], ')');
    const last = isCall ? tokens[i + 2]! : tokens[i]!;
    settled += `${text.slice(from, tokens[i]!.at)}${literal(instant)}`;
    from = last.end;
  }
  return settled + text.slice(from);
}

function isSymbol(token: Token | undefined, symbol: string): boolean {
  return token?.kind === 'symbol' && token.text === symbol;
}

/** The column with another default, or with none. Throws `INVALID_SCHEMA` for a default that cannot be one of the column. */
export function withDefault(
  field: StructField,
  path: readonly string[],
  text: string | null,
  now: number,
): StructField {
  const { [DEFAULT]: _, EXISTS_DEFAULT: __, ...rest } = field.metadata;
  if (text === null) return { ...field, metadata: rest };
  const refuse = (why: string, cause?: unknown): never => {
    const column = path.join('.');
    throw new TableError(
      'INVALID_SCHEMA',
      `The column '${column}' cannot have the default ${text}: ${why}`,
      { column, expression: text },
      cause,
    );
  };
  if (path.length > 1) refuse('only columns of their own have one, not what is inside them.');
  const computed = Object.keys(rest).find(
    (key) => key === 'delta.generationExpression' || key.startsWith('delta.identity.'),
  );
  if (computed !== undefined) refuse('its values are computed.');
  try {
    const value = defaultValue(field, text, now);
    if (value === null && !field.nullable) refuse('it is NOT NULL.');
  } catch (error) {
    if (error instanceof TableError && error.code !== 'INVALID_SCHEMA') refuse(error.message, error);
    throw error;
  }
  return { ...field, metadata: { ...rest, [DEFAULT]: text } };
}
