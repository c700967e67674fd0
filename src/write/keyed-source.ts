import type { RecordBatch } from 'apache-arrow';
import { TableError } from '../errors.js';
import { arrowReader } from '../scan/evaluate-arrow.js';
import { findField } from '../schema/mapping.js';
import { typeText } from '../schema/type-text.js';
import type { Datum, StructField, StructType } from '../schema/types.js';
import { compareDatum, datumText } from '../schema/value.js';
import { tableOf } from './columns.js';
import { KeyBounds } from './key-bounds.js';
import { KeyIndex } from './key-index.js';

/** The words of an index's head have a bit for each column. */
const MAX_KEY_COLUMNS = 31;

/** The key columns that a caller names. Throws `INVALID_INPUT`, `UNKNOWN_COLUMN`. */
export function keyFields(schema: StructType, names: readonly string[], option: string): StructField[] {
  if (names.length === 0 || names.length > MAX_KEY_COLUMNS) {
    throw new TableError('INVALID_INPUT', `'${option}' names 1 to ${MAX_KEY_COLUMNS} key columns.`, {
      [option]: names,
    });
  }
  const fields = names.map((name) => {
    const field = findField(schema, name);
    if (!field) {
      throw new TableError('UNKNOWN_COLUMN', `The key column '${name}' is not a column of the table.`, {
        column: name,
      });
    }
    const { type } = field.dataType;
    if (['struct', 'array', 'map', 'variant', 'void'].includes(type)) {
      throw new TableError(
        'INVALID_INPUT',
        `The column '${field.name}' of type ${typeText(field.dataType)} cannot be a key: its values have no order.`,
        { column: field.name },
      );
    }
    return field;
  });
  if (new Set(fields).size < fields.length) {
    throw new TableError('INVALID_INPUT', `'${option}' names a key column twice.`, { [option]: names });
  }
  return fields;
}

export interface KeyRules {
  /** NULL equals NULL. */
  readonly nulls: boolean;
  /** What two rows of one key are: `refuse` finds them, `keep` says nothing, else by the columns the row that stays. */
  readonly duplicates:
    | 'refuse'
    | 'keep'
    | { readonly by: readonly StructField[]; readonly order: 'first' | 'last' };
}

/** The keys of a source's rows, in an index, with their bounds. */
export class SourceKeys {
  readonly fields: readonly StructField[];
  readonly index: KeyIndex;
  readonly bounds: KeyBounds;
  readonly nulls: boolean;
  /** Rows that another of the same key has replaced. */
  readonly dropped = new Set<number>();
  readonly #schema: StructType;
  readonly #indexes: readonly number[];
  readonly #rules: KeyRules;
  readonly #order: Datum[][] = [];
  #rows = 0;
  #surplus = 0;
  #example: { row: number; text: string; count: number } | undefined;

  constructor(schema: StructType, fields: readonly StructField[], rules: KeyRules) {
    this.#schema = schema;
    this.fields = fields;
    this.#indexes = fields.map((field) => schema.fields.indexOf(field));
    this.#rules = rules;
    this.nulls = rules.nulls;
    this.index = new KeyIndex(fields.map(({ dataType }) => dataType));
    this.bounds = new KeyBounds(fields, this.#indexes);
  }

  /** Takes the next rows of the source. */
  add(batch: RecordBatch): void {
    const { columns } = tableOf(batch, this.#schema);
    this.bounds.add(batch);
    const { duplicates } = this.#rules;
    const first = this.#rows;
    if (typeof duplicates === 'object') this.#takeOrder(batch, duplicates.by);
    const keys = this.#indexes.map((i) => columns[i]!);
    this.index.add(keys, batch.numRows, first, this.#rules.nulls, (kept, row) => {
      if (duplicates === 'keep') return kept;
      if (duplicates === 'refuse') {
        this.#count(kept, batch, row - first);
        return kept;
      }
      const stays = this.#isBetter(row, kept, duplicates) ? row : kept;
      this.dropped.add(stays === row ? kept : row);
      return stays;
    });
    this.#rows += batch.numRows;
  }

  /** No more rows come. Throws `DUPLICATE_KEY` where several rows have one key and the rules refuse that. */
  end(): void {
    if (!this.#example) return;
    const { text, count } = this.#example;
    throw new TableError(
      'DUPLICATE_KEY',
      `${count} source rows have the key ${text}${this.#surplus > count - 1 ? `, and ${this.#surplus - count + 1} more rows repeat other keys` : ''}. Nothing was committed. Give one row for each key, or say which stays with dedupe.`,
      { key: text, rows: count, duplicates: this.#surplus },
    );
  }

  #count(kept: number, batch: RecordBatch, row: number): void {
    this.#surplus++;
    if (this.#example?.row === kept) this.#example.count++;
    this.#example ??= { row: kept, text: keyText(batch, row, this.fields, this.#indexes), count: 2 };
  }

  #takeOrder(batch: RecordBatch, by: readonly StructField[]): void {
    const readers = by.map((field) =>
      arrowReader(
        { data: batch.data.children[this.#schema.fields.indexOf(field)]!, outer: [] },
        field.dataType,
      ),
    );
    for (let row = 0; row < batch.numRows; row++) this.#order.push(readers.map((read) => read(row)));
  }

  /** Equal rows: the later one is the last. */
  #isBetter(
    row: number,
    kept: number,
    { by, order }: { readonly by: readonly StructField[]; readonly order: 'first' | 'last' },
  ): boolean {
    for (const [i, { dataType }] of by.entries()) {
      const sign = compareDatum(dataType, this.#order[row]![i]!, this.#order[kept]![i]!);
      if (sign !== 0) return order === 'last' ? sign > 0 : sign < 0;
    }
    return order === 'last';
  }
}

/** A key for people. */
export function keyText(
  batch: RecordBatch,
  row: number,
  fields: readonly StructField[],
  indexes: readonly number[],
): string {
  const parts = fields.map(({ name, dataType }, i) => {
    const value = arrowReader({ data: batch.data.children[indexes[i]!]!, outer: [] }, dataType)(row);
    return `${name} = ${value === null ? 'NULL' : datumText(dataType, value)}`;
  });
  return parts.join(', ');
}
