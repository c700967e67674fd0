import { TableError } from '../errors.js';
import { bindPredicate } from '../scan/bind.js';
import type { AddConstraint, Altered, Draft, DropConstraint } from './alteration.js';

const PREFIX = 'delta.constraints.';

/**
 * Throws `INVALID_INPUT` for a name that is taken or empty, `INVALID_PREDICATE` and `UNKNOWN_COLUMN` for a condition that cannot be evaluated here. That rows
 * satisfy it is checked by whoever commits.
 */
export function addConstraint(draft: Draft, { addConstraint: name, check }: AddConstraint): Altered {
  if (!/^\S+$/.test(name)) throw refused(`'${name}' is no name of a constraint.`, name);
  const key = keyOf(draft, name);
  if (key !== undefined && draft.configuration[key] !== check)
    throw refused(`There is a constraint ${name} already: ${draft.configuration[key]}. Drop it first.`, name);
  bindPredicate(check, draft.schema);
  const isNew = key === undefined;
  return {
    draft: isNew
      ? {
          ...draft,
          configuration: { ...draft.configuration, [`${PREFIX}${name.toLowerCase()}`]: check },
          checks: [...draft.checks, { name, check }],
        }
      : draft,
    operation: 'ADD CONSTRAINT',
    parameters: { name, expr: check },
    told: `add the constraint ${name}: ${check}`,
  };
}

/** Throws `INVALID_INPUT` for a constraint that is not there. */
export function dropConstraint(draft: Draft, { dropConstraint: name }: DropConstraint): Altered {
  const key = keyOf(draft, name);
  if (key === undefined) throw refused(`There is no constraint ${name}.`, name);
  const { [key]: expr, ...configuration } = draft.configuration;
  return {
    draft: { ...draft, configuration, checks: draft.checks.filter((each) => !isSame(each.name, name)) },
    operation: 'DROP CONSTRAINT',
    parameters: { name, expr: expr!, existed: 'true' },
    told: `drop the constraint ${name}: ${expr}`,
  };
}

function keyOf({ configuration }: Draft, name: string): string | undefined {
  return Object.keys(configuration).find(
    (key) => key.startsWith(PREFIX) && isSame(key.slice(PREFIX.length), name),
  );
}

function isSame(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

function refused(message: string, name: string): TableError {
  return new TableError('INVALID_INPUT', message, { constraint: name });
}
