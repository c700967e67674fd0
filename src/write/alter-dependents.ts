import { isTableError, TableError } from '../errors.js';
import { bindExpression, bindPredicate } from '../scan/bind.js';
import { parseExpression } from '../scan/sql.js';
import type { Draft } from './alteration.js';

const CONSTRAINT = 'delta.constraints.';
const GENERATION = 'delta.generationExpression';

type Rules = Pick<Draft, 'schema' | 'configuration'>;

/** Throws `INVALID_SCHEMA` where a constraint or generated column reads the column, or something inside it, or what holds it. */
export function assertUnused(draft: Rules, path: readonly string[], what: string): void {
  for (const { name, text, isGenerated } of expressionsOf(draft)) {
    if (!reads(draft, text, path, isGenerated)) continue;
    const column = path.join('.');
    throw new TableError(
      'INVALID_SCHEMA',
      `The column '${column}' cannot be ${what}, because ${name} depends on it: ${text}.`,
      { column, dependent: name, expression: text },
    );
  }
}

function expressionsOf({ configuration, schema }: Rules) {
  const constraints = Object.entries(configuration).flatMap(([key, text]) =>
    key.startsWith(CONSTRAINT)
      ? [{ name: `the constraint ${key.slice(CONSTRAINT.length)}`, text, isGenerated: false }]
      : [],
  );
  const generated = schema.fields.flatMap(({ name, metadata }) => {
    const text = metadata[GENERATION];
    return typeof text === 'string'
      ? [{ name: `the generated column ${name}`, text, isGenerated: true }]
      : [];
  });
  return [...constraints, ...generated];
}

/** What cannot be parsed here may read anything. */
function reads(draft: Rules, text: string, path: readonly string[], isGenerated: boolean): boolean {
  try {
    const { columns } = isGenerated
      ? bindExpression(parseExpression(text), draft.schema)
      : bindPredicate(text, draft.schema);
    return columns.some((column) => {
      const shorter = Math.min(column.path.length, path.length);
      return column.path.slice(0, shorter).every((name, i) => name === path[i]);
    });
  } catch (error) {
    if (isTableError(error, 'INVALID_PREDICATE', 'UNKNOWN_COLUMN')) return true;
    throw error;
  }
}
