import type { RecordBatch } from 'apache-arrow';
import { isTableError, TableError } from '../errors.js';
import { conformBatch } from '../schema/conform.js';
import type { StructType } from '../schema/types.js';
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
  if (target !== undefined && !input.describesItself) {
    // Text is read as the table's own types; what is derived is not in it.
    const names = new Set(derivations.map(({ name }) => name.toLowerCase()));
    const fields = target.fields.filter(({ name }) => !names.has(name.toLowerCase()));
    const own: StructType = { type: 'struct', fields };
    return { input, own, derived: bindDerivations(derivations, own) };
  }
  const own = withoutNaive(await input.schema(session.signal), target, flags.ntzAs, input.name);
  return { input, own, derived: bindDerivations(derivations, own) };
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
