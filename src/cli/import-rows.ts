import type { RecordBatch } from 'apache-arrow';
import { isTableError, TableError } from '../errors.js';
import { conformBatch } from '../schema/conform.js';
import { findField } from '../schema/mapping.js';
import { sameType, typeText } from '../schema/type-text.js';
import type { StructField, StructType } from '../schema/types.js';
import type { ImportFlags } from './import.js';
import { type BoundDerivations, bindDerivations, type Derivation, derive } from './input/derive.js';
import { withoutNaive } from './input/naive.js';
import type { Input, OnBytes } from './input/source.js';
import type { Session } from './session.js';

/** An input with the schema that its rows are given in, derived columns included. */
export interface Prepared {
  readonly input: Input;
  /** As the input has them, zone-less timestamps settled. */
  readonly own: StructType;
  readonly derived: BoundDerivations;
}

/** Reads all inputs from the start, as batches of `target` where there is a table already. */
export type Rows = (target?: StructType) => AsyncIterable<RecordBatch>;

/** Settles what the rows of an input are, for a table of the schema `target` or for a new one. Throws `INVALID_INPUT`, `UNKNOWN_COLUMN`, `INVALID_PREDICATE`. */
export async function prepare(
  session: Session,
  input: Input,
  derivations: readonly Derivation[],
  target: StructType | undefined,
  flags: ImportFlags,
): Promise<Prepared> {
  const adds = flags.evolve?.includes('add-columns') ?? false;
  if (target !== undefined && !input.describesItself) {
    // Text is read as the table's own types; what is derived is not in it.
    const names = new Set(derivations.map(({ name }) => name.toLowerCase()));
    const fields = target.fields.filter(({ name }) => !names.has(name.toLowerCase()));
    const own: StructType = {
      type: 'struct',
      fields: [...fields, ...(adds ? await newFields(session, input, target, flags) : [])],
    };
    return { input, own, derived: bindDerivations(derivations, own) };
  }
  const own = withoutNaive(await input.schema(session.signal), target, flags.ntzAs, input.name, adds);
  return { input, own, derived: bindDerivations(derivations, own) };
}

/** The columns of a text that the table lacks, with the types that their values tell. */
async function newFields(
  session: Session,
  input: Input,
  target: StructType,
  { ntzAs }: ImportFlags,
): Promise<readonly StructField[]> {
  const { fields } = await input.schema(session.signal);
  const lacking = fields.filter(({ name }) => !findField(target, name));
  return withoutNaive({ type: 'struct', fields: lacking }, undefined, ntzAs, input.name).fields;
}

/** The batches of all inputs with derived columns, told apart by file where one does not fit. */
export async function* batchesOf(
  session: Session,
  prepared: readonly Prepared[],
  target: StructType | undefined,
  onBytes: OnBytes,
): AsyncGenerator<RecordBatch> {
  for (const { input, own, derived } of prepared) {
    let row = 0;
    for await (const batch of input.batches(own, onBytes, session.signal)) {
      try {
        const settled = conformBatch(batch, own, { naive: 'utc', firstRow: row });
        for (const slice of derive(derived, settled)) {
          // Checked here, where the file's name and the row in it are known.
          yield target === undefined ? slice : conformBatch(slice, target, { firstRow: row });
          row += slice.numRows;
        }
      } catch (error) {
        throw inFile(error, input.name);
      }
    }
  }
}

function inFile(error: unknown, file: string): unknown {
  if (!isTableError(error, 'INVALID_ROW', 'UNKNOWN_COLUMN') || error.context.file !== undefined) return error;
  return new TableError(error.code, `${file}: ${error.message}`, { ...error.context, file }, error);
}

/** The columns of all inputs; those of one name must have one type. Columns that some input lacks are nullable. Throws `INVALID_INPUT`. */
export function commonSchema(prepared: readonly Prepared[]): StructType {
  const [first, ...others] = prepared;
  const fields = [...first!.derived.schema.fields];
  for (const { input, derived } of others) {
    for (const field of derived.schema.fields) {
      const at = fields.findIndex(({ name }) => name.toLowerCase() === field.name.toLowerCase());
      const known = fields[at];
      if (known === undefined) fields.push({ ...field, nullable: true });
      else if (!sameType(known.dataType, field.dataType))
        throw new TableError(
          'INVALID_INPUT',
          `${input.name}: column '${field.name}' is ${typeText(field.dataType)}, but ${typeText(known.dataType)} in ${first!.input.name}. Create the table with --schema first.`,
          { file: input.name, column: field.name },
        );
      else if (field.nullable && !known.nullable) fields[at] = { ...known, nullable: true };
    }
    for (const [i, field] of fields.entries()) {
      const isMissing = !derived.schema.fields.some(
        ({ name }) => name.toLowerCase() === field.name.toLowerCase(),
      );
      if (isMissing && !field.nullable) fields[i] = { ...field, nullable: true };
    }
  }
  return { type: 'struct', fields };
}
