import { type Cell, type Cells, type Column, TYPES } from './cells.js';
import type { Condition, Value } from './expressions.js';
import { APPS, LAYOUTS, PARTITION_TEXTS, PARTITIONS, PATTERNS, POOLS, TOGGLES } from './pools.js';
import { Random } from './random.js';
import {
  applyOperation,
  type BySourceClause,
  type ForeignStep,
  type InsertClause,
  isOfSchema,
  type MatchedClause,
  type Model,
  type Operation,
  type SetValues,
  type Step,
} from './steps.js';

/** A table and what happens to it. */
export interface Sequence {
  readonly columns: readonly Column[];
  readonly partitionBy: readonly Column[];
  readonly properties: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
}

export interface Profile {
  readonly steps: number;
  /** The other engines that write to the table too. */
  readonly foreign?: readonly ('spark' | 'deltars')[];
  /** The table, where it is not left to chance. */
  readonly table?: Pick<Sequence, 'columns' | 'partitionBy' | 'properties'>;
  /** One verb a step, and the schema stays. */
  readonly verbsOnly?: boolean;
}

/** The same seed gives the same sequence. Steps are made for what the steps before leave, so that conditions and keys find something. */
export function generate(seed: number, profile: Profile): Sequence {
  const random = new Random(seed);
  const table = profile.table ?? randomTable(random);
  const writer = new Writer(random, { ...table, rows: [] }, profile, table.properties);
  return { ...table, steps: Array.from({ length: profile.steps }, () => writer.step()) };
}

function randomTable(random: Random): NonNullable<Profile['table']> {
  const partitionBy = random.pick(PARTITIONS);
  const others = (['n', 'd', 'm', 't', 'f', 'b', 's'] as const).filter((each) => !partitionBy.includes(each));
  const properties = random.pick(LAYOUTS);
  const columns: Column[] = ['id', ...random.some(others, random.int(2, others.length))];
  if ('delta.enableTypeWidening' in properties || random.chance(0.1)) columns.push('w');
  if ('delta.columnMapping.mode' in properties && random.chance(0.7)) columns.push('x');
  columns.push(...partitionBy.filter((column) => !columns.includes(column)));
  if (!columns.includes('p')) columns.push('p');
  return { columns, partitionBy, properties };
}

class Writer {
  readonly #random: Random;
  readonly #texts: readonly string[];
  readonly #foreign: readonly ('spark' | 'deltars')[];
  readonly #verbsOnly: boolean;
  readonly #isMapped: boolean;
  readonly #isWidening: boolean;
  /** True while the schema stays. */
  #isSteady: boolean;
  #model: Model;

  constructor(random: Random, model: Model, profile: Profile, properties: Readonly<Record<string, string>>) {
    this.#random = random;
    this.#model = model;
    this.#texts = random.some(PARTITION_TEXTS, random.int(2, 5));
    // delta-rs writes plain tables alone, and negative decimals of partitions with two signs.
    const isPlain = Object.keys(properties).every(
      (name) => !name.includes('.enable') && !name.includes('olicy'),
    );
    const forDeltars =
      isPlain && !('delta.columnMapping.mode' in properties) && !model.partitionBy.includes('m');
    this.#verbsOnly = profile.verbsOnly === true;
    this.#isMapped = 'delta.columnMapping.mode' in properties;
    this.#isWidening = 'delta.enableTypeWidening' in properties;
    this.#isSteady = this.#verbsOnly;
    this.#foreign = (profile.foreign ?? []).filter((engine) => engine === 'spark' || forDeltars);
  }

  step(): Step {
    const step = this.#step();
    const operations = step.op === 'race' ? step.steps : step.op === 'foreign' ? [step.step] : [step];
    for (const each of operations) {
      if (each.op === 'checkpoint' || each.op === 'compact') continue;
      const outcome = applyOperation(this.#model, each as Operation);
      if (!('refused' in outcome)) this.#model = outcome;
    }
    return step;
  }

  #step(): Step {
    const random = this.#random;
    const handle = random.int(0, 1);
    const kind = random.weighted([
      [10, 'verb'],
      [this.#verbsOnly ? 0 : 2, 'race'],
      [this.#verbsOnly ? 0 : 1, 'checkpoint'],
      [this.#foreign.length > 0 ? 2.5 : 0, 'foreign'],
    ] as const);
    switch (kind) {
      case 'verb':
        return { ...this.#tokened(this.#operation()), handle };
      case 'race': {
        // The schema stays, since a write staged for another is refused.
        this.#isSteady = true;
        const first = this.#tokened(this.#operation());
        const second = this.#operation();
        // Two that hold one token, as when a job is started twice.
        const token = first.token && random.chance(0.5) ? { token: first.token } : {};
        const steps = [first, isTokenless(second) ? second : { ...second, ...token }];
        this.#isSteady = this.#verbsOnly;
        return { op: 'race', steps };
      }
      case 'checkpoint':
        return { op: 'checkpoint', handle };
      case 'foreign': {
        const engine = random.pick(this.#foreign);
        return { op: 'foreign', engine, step: this.#foreignStep() };
      }
    }
  }

  /** With a token as often as not once there are some: a new one, or one that is recorded. */
  #tokened(operation: Operation): Operation {
    const random = this.#random;
    if (isTokenless(operation) || !random.chance(0.15)) return operation;
    const app = random.pick(APPS);
    const recorded = this.#model.tokens?.[app] ?? 0;
    return { ...operation, token: { app, version: Math.max(0, recorded + random.int(-1, 2)) } };
  }

  #foreignStep(): ForeignStep {
    const random = this.#random;
    switch (random.pick(['append', 'append', 'delete', 'compact', 'checkpoint'] as const)) {
      case 'append':
        return { op: 'append', rows: this.#rows(1).filter((row) => !this.#isUnwritable(row)) };
      case 'delete': {
        const col = this.#model.columns.includes('n') ? random.pick(['id', 'n'] as const) : 'id';
        const value = col === 'n' ? random.int(-3, 9) : String(random.int(0, 15));
        return { op: 'delete', where: { cmp: random.pick(['=', '<', '>=']), col, value } };
      }
      case 'compact':
        return { op: 'compact' };
      case 'checkpoint':
        return { op: 'checkpoint' };
    }
  }

  #isUnwritable(row: Cells): boolean {
    return this.#model.partitionBy.some((column) => row[column] === '');
  }

  #operation(): Operation {
    const random = this.#random;
    const isPartitioned = this.#model.partitionBy.length > 0;
    const op = random.weighted([
      [this.#model.rows.length < 8 ? 5 : 2, 'append'],
      [isPartitioned ? 2 : 0.1, 'overwritePartitions'],
      [3, 'overwrite'],
      [0.5, 'overwriteAll'],
      [2, 'delete'],
      [2, 'update'],
      [2, 'replaceUsing'],
      [5, 'merge'],
      [this.#isSteady ? 0 : this.#isMapped || this.#isWidening ? 3 : 0.8, 'alter'],
    ] as const);
    const evolves = !this.#isSteady && random.chance(0.1);
    const evolved = evolves ? { rows: this.#rows(1, this.#withX()), evolve: true } : undefined;
    switch (op) {
      case 'append':
      case 'overwritePartitions':
        if (!this.#isSteady && this.#canWiden() && random.chance(0.5)) return { op, ...this.#widened() };
        return { op, ...(evolved ?? { rows: this.#rows() }) };
      case 'overwrite':
        return this.#overwrite();
      case 'overwriteAll':
        return this.#overwriteAll();
      case 'delete':
        return { op, where: this.#condition(2) };
      case 'update':
        return { op, set: this.#set(this.#model.columns), where: this.#condition(2) };
      case 'replaceUsing': {
        const nullKeys = random.chance(0.8);
        return { op, rows: this.#rows(), columns: this.#keys(), nullKeys };
      }
      case 'merge':
        return evolved
          ? { op, on: ['id'], nulls: 'equal', ...evolved, dedupe: { by: ['p'], order: 'last' } }
          : this.#merge();
      case 'alter':
        return this.#alteration();
    }
  }

  #alteration(): Operation {
    const random = this.#random;
    const extra = (['x', 'y'] as const).filter((column) => this.#model.columns.includes(column));
    const column = random.pick(extra.length > 0 ? extra : (['x'] as const));
    const options: [number, () => Operation][] = [
      [0.5, () => ({ op: 'setProperty', name: random.pick(TOGGLES), value: random.pick(['true', 'false']) })],
    ];
    if (extra.length === 0) options.push([2, () => ({ op: 'addColumn', column })]);
    if (extra.length > 0 && this.#isMapped) options.push([1, () => ({ op: 'dropColumn', column })]);
    if (extra.length === 1 && this.#isMapped)
      options.push([2, () => ({ op: 'renameColumn', column, to: column === 'x' ? 'y' : 'x' })]);
    if (this.#canWiden()) options.push([2, () => ({ op: 'widen' })]);
    return random.weighted(options)();
  }

  #canWiden(): boolean {
    return this.#isWidening && this.#model.columns.includes('w') && !this.#model.isWide;
  }

  /** Rows of which one at least does not fit the type that the table has. */
  #widened(): { rows: Cells[]; widen: true } {
    const rows = this.#rows(1).map((row) => ({ ...row, w: this.#random.pick([null, -40_000, 100_000]) }));
    return { rows: [...rows, { ...rows[0]!, w: 70_000 }], widen: true };
  }

  #overwrite(): Operation {
    const where = this.#condition(2);
    const rows = this.#rows();
    if (this.#random.chance(0.1)) return { op: 'overwrite', where, rows };
    const inside = rows.filter((row) => {
      const outcome = applyOperation(this.#model, { op: 'overwrite', where, rows: [row] });
      return !('refused' in outcome) || outcome.refused !== 'OUTSIDE_TARGET';
    });
    return { op: 'overwrite', where, rows: inside };
  }

  #overwriteAll(): Operation {
    const random = this.#random;
    if (this.#isSteady || random.chance(0.5)) return { op: 'overwriteAll', rows: this.#rows() };
    const { columns } = this.#model;
    const others = columns.includes('x')
      ? columns.filter((each) => each !== 'x')
      : [...columns, 'x' as const];
    return { op: 'overwriteAll', rows: this.#rows(0, others), columns: others };
  }

  #withX(): Column[] {
    return [...new Set<Column>([...this.#model.columns, 'x'])];
  }

  #merge(): Operation {
    const random = this.#random;
    const on = this.#keys();
    const nulls = random.chance(0.8) ? 'equal' : 'distinct';
    const base = { op: 'merge', on, nulls } as const;
    const dedupe = random.chance(0.4)
      ? {
          by: random.some(this.#model.columns, random.int(1, 2)),
          order: random.pick(['first', 'last'] as const),
        }
      : undefined;
    const given = this.#rows();
    const unique = random.chance(0.85) && !dedupe ? this.#withoutRepeats(given, on, nulls) : given;
    const options = {
      ...(dedupe ? { dedupe } : {}),
      ...(random.chance(0.5) ? { whenMatched: this.#clauses(() => this.#matched()) } : {}),
      ...(random.chance(0.4) ? { whenNotMatched: this.#clauses(() => this.#insert()) } : {}),
      ...(random.chance(0.3) ? { whenNotMatchedBySource: this.#clauses(() => this.#bySource()) } : {}),
    };
    return { ...base, rows: unique, ...options };
  }

  #withoutRepeats(rows: readonly Cells[], on: readonly Column[], nulls: 'equal' | 'distinct'): Cells[] {
    const kept: Cells[] = [];
    for (const row of rows) {
      const operation: Operation = { op: 'merge', on, nulls, rows: [...kept, row] };
      const outcome = applyOperation({ ...this.#model, rows: [], partitionBy: [] }, operation);
      if (!('refused' in outcome)) kept.push(row);
    }
    return kept;
  }

  /** None, one or two clauses, of which only the last may do without a condition. */
  #clauses<T extends object>(clause: () => T & { where?: Condition }): T[] {
    const made = Array.from({ length: this.#random.int(0, 2) }, clause);
    return made.map((each, i) =>
      i < made.length - 1 && !each.where ? { ...each, where: { is: false } } : each,
    );
  }

  #matched(): MatchedClause {
    const random = this.#random;
    const where = random.chance(0.6) ? { where: this.#pairCondition() } : {};
    if (random.chance(0.3)) return { ...where, delete: true };
    return { ...where, update: random.chance(0.4) ? 'all' : this.#set(this.#bothSides()) };
  }

  #insert(): InsertClause {
    const random = this.#random;
    const where = random.chance(0.5) ? { where: this.#condition(1) } : {};
    return { ...where, insert: random.chance(0.5) ? 'all' : this.#set(this.#model.columns) };
  }

  #bySource(): BySourceClause {
    const where = this.#random.chance(0.7) ? { where: this.#condition(1) } : {};
    return this.#random.chance(0.5)
      ? { ...where, delete: true }
      : { ...where, update: this.#set(this.#model.columns) };
  }

  #bothSides(): string[] {
    return this.#model.columns.flatMap((column) => [`source.${column}`, `target.${column}`]);
  }

  #pairCondition(): Condition {
    const random = this.#random;
    const column = random.pick(this.#model.columns);
    if (random.chance(0.5)) {
      const cmp = random.pick(['=', '<>', '<', '>=', '<=>'] as const);
      return { cmp, col: `source.${column}`, other: `target.${column}` };
    }
    return this.#simple(`${random.pick(['source', 'target'])}.${column}`);
  }

  #keys(): Column[] {
    const { columns, partitionBy } = this.#model;
    const random = this.#random;
    const choice = random.weighted<readonly Column[]>([
      [4, ['id']],
      [2, [...new Set<Column>(['id', ...partitionBy])]],
      [1, ['p', 'id']],
      [2, random.some(columns, random.int(1, 2))],
    ]);
    return [...choice];
  }

  #condition(depth: number): Condition {
    const random = this.#random;
    if (depth > 0 && random.chance(0.35)) {
      const parts = [this.#condition(depth - 1), this.#condition(depth - 1)];
      return random.weighted<Condition>([
        [2, { and: parts }],
        [2, { or: parts }],
        [1, { not: parts[0]! }],
      ]);
    }
    if (random.chance(0.05)) return { is: random.pick([true, false, null]) };
    if (random.chance(0.05) && this.#model.columns.includes('s')) return { cmp: '=', col: 's', other: 'p' };
    const { columns, partitionBy } = this.#model;
    return this.#simple(
      partitionBy.length > 0 && random.chance(0.4) ? random.pick(partitionBy) : random.pick(columns),
    );
  }

  /** A condition on one column, which may be qualified. */
  #simple(name: string): Condition {
    const random = this.#random;
    const column = name.slice(name.lastIndexOf('.') + 1) as Column;
    const value = (): Cell => this.#known(column);
    const kind = random.weighted([
      [5, 'cmp'],
      [1, 'isNull'],
      [1.5, 'in'],
      [1, 'between'],
      [TYPES[column] === 'string' ? 1.5 : 0, 'like'],
    ] as const);
    switch (kind) {
      case 'cmp':
        return { cmp: random.pick(['=', '<>', '<', '<=', '>', '>=', '<=>']), col: name, value: value() };
      case 'isNull':
        return random.chance(0.5) ? { isNull: name } : { not: { isNull: name } };
      case 'in':
        return { in: name, values: Array.from({ length: random.int(1, 3) }, value) };
      case 'between':
        return { between: name, low: value(), high: value() };
      case 'like':
        return { like: name, pattern: random.pick(PATTERNS) };
    }
  }

  /** Sets one or two columns. `names` are those that values may come from. */
  #set(names: readonly string[]): SetValues {
    const random = this.#random;
    const targets = random.some(this.#model.columns, random.int(1, 2));
    return Object.fromEntries(targets.map((column) => [column, this.#value(column, names)]));
  }

  #value(column: Column, names: readonly string[]): Value {
    const random = this.#random;
    const type = TYPES[column];
    const alike = names.filter((name) => TYPES[name.slice(name.lastIndexOf('.') + 1) as Column] === type);
    const from = random.pick(alike.length > 0 ? alike : [column]);
    const options: [number, Value][] = [[2, { lit: this.#cell(column), as: type }]];
    if (alike.length > 0) {
      options.push([1, { copy: from }]);
      if (type === 'integer' || type === 'date' || type === 'short')
        options.push([2, { plus: from, k: random.int(1, 3) }]);
      if (type === 'string') options.push([2, { concat: from, suffix: random.pick(['', '!', "'"]) }]);
      const otherwise = this.#cell(column);
      if (otherwise !== null) options.push([1, { coalesce: from, otherwise }]);
    }
    return random.weighted(options);
  }

  #rows(least = 0, columns = this.#model.columns): Cells[] {
    const random = this.#random;
    const count = random.chance(0.08) ? least : random.int(1, 8);
    return Array.from({ length: count }, () =>
      Object.fromEntries(columns.map((column) => [column, this.#cell(column)])),
    );
  }

  /** A value of the column that the table has, as often as not. */
  #known(column: Column): Cell {
    const { rows } = this.#model;
    if (this.#random.chance(0.04)) return null;
    const known = rows.length > 0 && this.#random.chance(0.5) ? this.#random.pick(rows)[column] : undefined;
    return known ?? this.#cell(column, 0);
  }

  #cell(column: Column, nulls = 0.15): Cell {
    const random = this.#random;
    if (random.chance(nulls)) return null;
    if (column === 'p') return random.pick(this.#texts);
    if (column === 'id' && !random.chance(0.05)) return String(random.int(0, 12));
    if ((TYPES[column] === 'integer' || column === 'w') && !random.chance(0.1)) return random.int(-3, 9);
    return random.pick(POOLS[TYPES[column]]);
  }
}

/** Changes of the table take no token; neither does an overwrite of the partitions of no rows. */
function isTokenless(operation: Operation): boolean {
  return isOfSchema(operation) || (operation.op === 'overwritePartitions' && operation.rows.length === 0);
}
