import { evolveSchema } from '../schema/evolution.js';
import type { StructType } from '../schema/types.js';
import type { Table } from '../table.js';
import type { EvolveOptions, Verb } from '../write/verb.js';
import { type ExecuteOptions, executeWrite, type Outcome } from './execute-write.js';
import type { ImportFlags } from './import.js';
import { commonSchema, type Prepared, type Rows } from './import-rows.js';
import type { Session } from './session.js';

/** Inputs that were looked at, and what is to be done with their rows. */
export interface Import {
  readonly verb: Verb;
  readonly prepared: readonly Prepared[];
  readonly rows: Rows;
  readonly flags: ImportFlags;
  readonly execute: ExecuteOptions;
}

/** Writes the rows to a table that is there, which gets their columns where `--evolve` says so. Throws as `executeWrite`. */
export async function writeInto(session: Session, table: Table, given: Import): Promise<Outcome> {
  const { rows, flags, execute } = given;
  const { target, verb, evolution } = await becoming(table, given);
  const context = (await session.runtime()).table(table.url);
  return executeWrite(session, context, rows(target), verb, flags, { ...execute, ...evolution });
}

/** What the table is once the rows are in it, as far as the inputs tell. */
async function becoming(
  table: Table,
  { verb, prepared, flags: { evolve } }: Import,
): Promise<{ readonly target: StructType; readonly verb: Verb; readonly evolution: EvolveOptions }> {
  const { schema, properties } = await table.snapshot({ maxStaleness: 60_000 });
  if (evolve === undefined) return { target: schema, verb, evolution: {} };
  if (evolve.includes('overwrite')) {
    const target = commonSchema(prepared);
    return { target, verb: { verb: 'overwrite', all: true, schema: target }, evolution: { evolve } };
  }
  const rules = {
    add: evolve.includes('add-columns'),
    widen: evolve.includes('widen'),
    configuration: properties,
  };
  const target = prepared.reduce((known, { derived }) => evolveSchema(known, derived.schema, rules), schema);
  return { target, verb, evolution: { evolve, evolveTo: target } };
}
