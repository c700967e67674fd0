import type { TableContext } from '../runtime/table-context.js';
import { batchFromRows, type Row } from '../schema/rows-in.js';
import type { State } from '../snapshot/state.js';
import { RowRules } from './rules.js';

/** Checks rows one at a time against what a table demands of them, compiled anew when the table changes. */
export class RowCheck {
  readonly #url: string;
  #metadata: State['metadata'] | undefined;
  #rules: RowRules | undefined;

  constructor({ url }: Pick<TableContext, 'url'>) {
    this.#url = url;
  }

  /**
   * Throws `INVALID_ROW` or `UNKNOWN_COLUMN` for a row that the table of `state` would refuse; `number` is for the message. Where columns have defaults, the
   * table's constraints are left to the commit.
   */
  assert(state: State, row: Row, number: number): void {
    if (this.#metadata !== state.metadata || !this.#rules) {
      this.#rules = new RowRules(state, this.#url);
      this.#metadata = state.metadata;
    }
    const batch = batchFromRows([row], this.#rules.given, { firstRow: number });
    if (this.#rules.defaults.size === 0) this.#rules.enforce(batch);
  }
}
