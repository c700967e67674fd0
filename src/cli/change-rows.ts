import { TableError } from '../errors.js';
import type { SetClause } from '../write/set.js';
import type { Verb } from '../write/verb.js';
import { executeWrite, printOutcome } from './execute-write.js';
import { parseAssignment } from './input/assignment.js';
import type { Session } from './session.js';
import type { WriteFlags } from './write-options.js';

/** Executes a verb that takes no rows. Throws `NOT_A_TABLE` where there is no table, and as `executeWrite`. */
export async function changeRows(
  session: Session,
  url: string,
  verb: Verb,
  flags: WriteFlags,
): Promise<undefined> {
  const startedAt = performance.now();
  const table = (await session.runtime()).table(url);
  const outcome = await executeWrite(session, table, undefined, verb, flags);
  await printOutcome(session, outcome, startedAt, flags.json);
}

/** The clause that repeated `--set` options stand for. Throws `INVALID_PREDICATE`, `INVALID_INPUT`. */
export function setClause(texts: readonly string[]): SetClause {
  const set: Record<string, string> = Object.create(null);
  for (const text of texts) {
    const assignment = parseAssignment(text);
    if (assignment === undefined)
      throw new TableError(
        'INVALID_PREDICATE',
        `--set takes NAME = EXPRESSION, such as 'price = price * 2', not ${JSON.stringify(text)}.`,
        { text },
      );
    const { name, expression } = assignment;
    if (Object.hasOwn(set, name))
      throw new TableError('INVALID_INPUT', `--set names the column '${name}' twice.`, { column: name });
    set[name] = expression;
  }
  return set;
}
