import type { RecordBatch } from 'apache-arrow';
import type { TableContext } from '../runtime/table-context.js';
import { constantColumn } from '../scan/select.js';
import type { StructField, StructType } from '../schema/types.js';
import type { State } from '../snapshot/state.js';
import type { StagedFile } from '../stage/staged.js';
import { Channel } from './channel.js';
import { batchOf, tableOf } from './columns.js';
import { stageBatches } from './stage-files.js';

/** What a row of a change data file is (protocol: Change Data Files). */
export type ChangeKind = 'insert' | 'update_preimage' | 'update_postimage' | 'delete';

const FOLDER = '_change_data';
const CHANGE_TYPE: StructField = {
  name: '_change_type',
  dataType: { type: 'string' },
  nullable: false,
  metadata: {},
};

/** Writes the change data files of one commit beside its data files. */
export class ChangeWriter {
  readonly #schema: StructType;
  readonly #tableSchema: StructType;
  readonly #channel = new Channel<RecordBatch>();
  readonly #staged: Promise<StagedFile[]>;

  constructor(table: TableContext, state: State, signal?: AbortSignal) {
    this.#tableSchema = state.schema;
    this.#schema = { type: 'struct', fields: [...state.schema.fields, CHANGE_TYPE] };
    this.#staged = stageBatches(table, state, this.#channel, {
      schema: this.#schema,
      dataFolder: FOLDER,
      share: 2,
      signal,
    });
    // A failure shows where the result is asked for; the senders must not wait for ever.
    this.#staged.catch(() => this.#channel.end());
  }

  /** Adds rows of the table's schema as changes of one kind. */
  async add(batch: RecordBatch, kind: ChangeKind): Promise<void> {
    const { columns, rows } = tableOf(batch, this.#tableSchema);
    const types = constantColumn(CHANGE_TYPE.dataType, kind, rows);
    await this.#channel.send(batchOf({ rows, columns: [...columns, types] }, this.#schema));
  }

  /** No more changes come: gives the files. Throws what staging throws. */
  finish(): Promise<StagedFile[]> {
    this.#channel.end();
    return this.#staged;
  }
}
