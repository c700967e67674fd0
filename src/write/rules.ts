import type { RecordBatch } from 'apache-arrow';
import { isTableError, TableError } from '../errors.js';
import { isActive } from '../log/features.js';
import type { ColumnData } from '../parquet/column/assemble.js';
import { type Bound, bindExpression, bindPredicate } from '../scan/bind.js';
import { compileFilter, evaluateColumn, type Filter, unselectedRows } from '../scan/evaluate.js';
import { arrowReader } from '../scan/evaluate-arrow.js';
import { parseExpression } from '../scan/sql.js';
import { sameType } from '../schema/type-text.js';
import type { Datum, StructField, StructType } from '../schema/types.js';
import { compareDatum, datumText } from '../schema/value.js';
import { batchOf, columnOfValues, type Table, tableOf } from './columns.js';
import { DEFAULT, defaultValue } from './default-value.js';
import { converted } from './set.js';
import type { FileRules } from './stage-files.js';

const GENERATION = 'delta.generationExpression';
const INVARIANTS = 'delta.invariants';
const CONSTRAINT = 'delta.constraints.';

interface Generated {
  readonly index: number;
  readonly field: StructField;
  readonly bound: Bound;
  readonly text: string;
}

interface Constraint {
  readonly name: string;
  readonly text: string;
  readonly bound: Bound;
  readonly filter: Filter;
}

/** What the table's metadata demands of every row written. */
export class RowRules {
  readonly #schema: StructType;
  readonly #generated: readonly Generated[];
  readonly #constraints: readonly Constraint[];
  /** Values of columns that a row does not name, by column name. */
  readonly defaults: ReadonlyMap<string, Datum>;
  /** The schema that rows are given in: what is filled in later may be absent. */
  readonly given: StructType;

  /**
   * Compiles defaults, generation expressions, CHECK constraints and invariants (protocol: Default Columns, Generated Columns, CHECK Constraints, Column
   * Invariants). `now`, milliseconds since the Unix epoch, is what defaults take for the time. Throws `UNSUPPORTED_FEATURE` for an expression that cannot be
   * evaluated here.
   */
  constructor(table: FileRules, url: string, now: number) {
    const { schema, metadata, protocol } = table;
    const active = (feature: string): boolean => isActive(feature, protocol, metadata);
    this.#schema = schema;
    this.#generated = active('generatedColumns') ? generatedColumns(schema, url) : [];
    this.#constraints = [
      ...(active('checkConstraints') ? checkConstraints(schema, metadata.configuration, url) : []),
      ...(active('invariants') ? invariants(schema, url) : []),
    ];
    this.defaults = active('allowColumnDefaults') ? defaultValues(schema, url, now) : new Map();
    const later = new Set([...this.#generated.map(({ field }) => field.name), ...this.defaults.keys()]);
    this.given =
      later.size === 0
        ? schema
        : { ...schema, fields: schema.fields.map((f) => (later.has(f.name) ? { ...f, nullable: true } : f)) };
  }

  /** The names of generated columns. */
  get generated(): readonly string[] {
    return this.#generated.map(({ field }) => field.name);
  }

  /** True where rows need neither filling nor checking. */
  get isEmpty(): boolean {
    return this.#generated.length === 0 && this.#constraints.length === 0 && this.defaults.size === 0;
  }

  /**
   * The batch with its generated columns filled in. Throws `INVALID_ROW` where a generated column was given another value, a constraint is not TRUE, or a
   * NOT NULL column has NULL.
   */
  enforce(batch: RecordBatch): RecordBatch {
    if (this.isEmpty) return batch;
    let table = tableOf(batch, this.#schema);
    for (const generated of this.#generated) table = withGenerated(table, this.#schema, generated);
    const filled = batchOf(table, this.#schema);
    this.#schema.fields.forEach((field, i) => {
      if (!field.nullable && table.columns[i]!.nullCount > 0) {
        throw invalid(`The column '${field.name}' is NOT NULL, and a row has NULL there.`, {
          column: field.name,
        });
      }
    });
    for (const { name, text, bound, filter } of this.#constraints) {
      const selection = filter(filled);
      if (selection.count === filled.numRows) continue;
      const values = valuesAt(filled, bound, unselectedRows(selection)[0]!);
      const rows = filled.numRows - selection.count;
      throw invalid(
        `The table demands ${text} (${name}), which ${rows === 1 ? 'a row does' : `${rows} rows do`} not satisfy; for example ${values}.`,
        { constraint: name, expression: text, example: values },
      );
    }
    return filled;
  }

  /** `enforce` over a stream. */
  async *enforceAll(batches: AsyncIterable<RecordBatch>): AsyncGenerator<RecordBatch> {
    for await (const batch of batches) yield this.enforce(batch);
  }
}

function withGenerated(table: Table, schema: StructType, { index, field, bound, text }: Generated): Table {
  const batch = batchOf(table, schema);
  const { type, values } = evaluateColumn(bound, batch);
  const to = field.dataType;
  const made = sameType(type, to) ? values : values.map((value) => converted(value, type, field, text));
  const column = table.columns[index]!;
  const read = arrowReader({ data: batch.data.children[index]!, outer: [] }, to);
  for (let row = 0; row < table.rows && column.nullCount < table.rows; row++) {
    const given = read(row);
    if (given === null || compareDatum(to, given, made[row]!) === 0) continue;
    const wanted = made[row] === null ? 'NULL' : datumText(to, made[row]!);
    throw invalid(
      `The column '${field.name}' is generated by ${text}, which gives ${wanted}, but a row has ${datumText(to, given)}. Leave the column out.`,
      { column: field.name, expression: text, expected: wanted, got: datumText(to, given) },
    );
  }
  const filled: ColumnData = columnOfValues(to, made);
  return { rows: table.rows, columns: table.columns.map((each, i) => (i === index ? filled : each)) };
}

function generatedColumns(schema: StructType, url: string): Generated[] {
  return schema.fields.flatMap((field, index) => {
    const text = field.metadata[GENERATION];
    if (typeof text !== 'string') return [];
    const bound = evaluable('generatedColumns', text, url, () =>
      bindExpression(parseExpression(text), schema),
    );
    return [{ index, field, bound, text }];
  });
}

function checkConstraints(
  schema: StructType,
  configuration: Readonly<Record<string, string>>,
  url: string,
): Constraint[] {
  return Object.entries(configuration).flatMap(([key, text]) =>
    key.startsWith(CONSTRAINT)
      ? [
          constraint(
            `CHECK constraint ${key.slice(CONSTRAINT.length)}`,
            'checkConstraints',
            text,
            schema,
            url,
          ),
        ]
      : [],
  );
}

function invariants(schema: StructType, url: string): Constraint[] {
  return schema.fields.flatMap((field) => {
    const text = invariantText(field);
    return text === undefined
      ? []
      : [constraint(`invariant of ${field.name}`, 'invariants', text, schema, url)];
  });
}

function invariantText({ metadata }: StructField): string | undefined {
  const json = metadata[INVARIANTS];
  if (typeof json !== 'string') return undefined;
  const parsed = JSON.parse(json) as { expression?: { expression?: unknown } };
  const text = parsed.expression?.expression;
  return typeof text === 'string' ? text : undefined;
}

function constraint(
  name: string,
  feature: string,
  text: string,
  schema: StructType,
  url: string,
): Constraint {
  const bound = evaluable(feature, text, url, () => bindPredicate(text, schema));
  return { name, text, bound, filter: compileFilter(bound) };
}

function defaultValues(schema: StructType, url: string, now: number): Map<string, Datum> {
  const found = new Map<string, Datum>();
  for (const field of schema.fields) {
    const text = field.metadata[DEFAULT];
    if (typeof text !== 'string') continue;
    found.set(
      field.name,
      evaluable('allowColumnDefaults', text, url, () => defaultValue(field, text, now)),
    );
  }
  return found;
}

function evaluable<T>(feature: string, text: string, url: string, compile: () => T): T {
  try {
    return compile();
  } catch (error) {
    if (!isTableError(error, 'INVALID_PREDICATE', 'UNKNOWN_COLUMN')) throw error;
    throw notEvaluable(feature, text, url, error);
  }
}

function notEvaluable(feature: string, text: string, url: string, cause?: unknown): TableError {
  return new TableError(
    'UNSUPPORTED_FEATURE',
    `The table ${url} cannot be written because this library cannot evaluate an expression of its ${feature}: ${text}. Use an engine that can.`,
    { url, features: [{ feature, blocks: 'write', reason: text }], expression: text },
    cause,
  );
}

function valuesAt(batch: RecordBatch, bound: Bound, row: number): string {
  return bound.columns
    .map(({ path, type }) => {
      const index = batch.schema.fields.findIndex(({ name }) => name === path[0]);
      if (path.length > 1) return path.join('.');
      const value = arrowReader({ data: batch.data.children[index]!, outer: [] }, type)(row);
      return `${path[0]} = ${value === null ? 'NULL' : datumText(type, value)}`;
    })
    .join(', ');
}

function invalid(message: string, context: Record<string, unknown>): TableError {
  return new TableError('INVALID_ROW', `${message} Nothing was committed.`, context);
}
