import { isTableError } from '../errors.js';
import type { TableContext } from '../runtime/table-context.js';
import { parseDdl } from '../schema/ddl.js';
import { batchFromRows, type Row } from '../schema/rows-in.js';
import type { StructType } from '../schema/types.js';
import type { State } from '../snapshot/state.js';
import { evolvedState, evolveModes } from './evolve.js';
import { Inference } from './evolve-infer.js';
import { RowRules } from './rules.js';
import type { Evolve, EvolveOptions } from './verb.js';

/** Checks rows one at a time against what a table demands of them, compiled anew when the table changes. */
export class RowCheck {
  readonly #table: TableContext;
  readonly #modes: ReadonlySet<Evolve>;
  /** What rows brought beyond the schema, or were said to bring. */
  #told: StructType | undefined;
  #state: State | undefined;
  #evolved: State | undefined;
  #rules: RowRules | undefined;

  /** Throws `INVALID_INPUT` for ways to evolve that appends have not. */
  constructor(table: TableContext, { evolve, evolveTo }: EvolveOptions = {}) {
    this.#table = table;
    this.#modes = evolveModes('append', { evolve, evolveTo }, table.url);
    this.#told = typeof evolveTo === 'string' ? parseDdl(evolveTo) : evolveTo;
  }

  /** The columns that the rows so far need, where the table lacks some of them. */
  get evolveTo(): StructType | undefined {
    return this.#evolved === this.#state ? undefined : this.#evolved?.schema;
  }

  /**
   * Throws `INVALID_ROW` or `UNKNOWN_COLUMN` for a row that the table of `state` would refuse; `number` is for the message. Where columns have defaults, the
   * table's constraints are left to the commit. Where rows may evolve the schema, a row is also held against those before it.
   */
  assert(state: State, row: Row, number: number): void {
    if (this.#state?.metadata !== state.metadata || !this.#rules) {
      const told = this.#told;
      const evolved = told ? evolvedState(this.#table, state, { told: [told], modes: this.#modes }) : state;
      this.#adopt(state, evolved, new RowRules(evolved, this.#table.url, this.#table.ctx.clock.now()));
    }
    try {
      check(this.#rules!, row, number);
    } catch (error) {
      if (this.#modes.size === 0 || !isTableError(error, 'INVALID_ROW', 'UNKNOWN_COLUMN')) throw error;
      this.#evolve(state, row, number, error);
    }
  }

  #evolve(state: State, row: Row, number: number, refusal: unknown): void {
    const before = this.#evolved!;
    const inference = new Inference(before.schema);
    inference.add(row);
    const told = [inference.schema];
    const evolved = evolvedState(this.#table, before, { told, modes: this.#modes });
    if (evolved === before) throw refusal;
    const rules = new RowRules(evolved, this.#table.url, this.#table.ctx.clock.now());
    check(rules, row, number);
    this.#told = evolved.schema;
    this.#adopt(state, evolved, rules);
  }

  #adopt(state: State, evolved: State, rules: RowRules): void {
    this.#state = state;
    this.#evolved = evolved;
    this.#rules = rules;
  }
}

function check(rules: RowRules, row: Row, number: number): void {
  const batch = batchFromRows([row], rules.given, { firstRow: number });
  if (rules.defaults.size === 0) rules.enforce(batch);
}
