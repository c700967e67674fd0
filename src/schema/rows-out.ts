import type { RecordBatch } from 'apache-arrow';
import type { ArrowDataLike } from './arrow-shape.js';
import { cellReader } from './cell-reader.js';
import { conformBatch } from './conform.js';
import type { RowOptions } from './js-value.js';
import type { Row } from './rows-in.js';
import type { StructType } from './types.js';

export type { RowOptions } from './js-value.js';
export type { Row } from './rows-in.js';

/**
 * The rows of a batch as plain objects, members in schema order, `__proto__` an own member like any other. 64-bit integers and timestamps as `options` say;
 * decimals are text with all digits of their scale, binary a Uint8Array of its own, arrays arrays, structs plain objects, maps `Map` where keys are
 * primitive and arrays of pairs otherwise; a variant is its `{ value, metadata }` bytes. NULL is null.
 *
 * The batch must have the schema's columns; other Arrow types that hold the same values are taken as `conformBatch` takes them, NULL anywhere included.
 * Errors: `INVALID_INPUT` when the form asked for cannot hold a value.
 */
export function rowsFromBatch(batch: RecordBatch, schema: StructType, options: RowOptions = {}): Row[] {
  const conforming = conformBatch(batch, withoutRequirements(schema), { naive: 'utc' });
  const rows: Row[] = Array.from({ length: conforming.numRows }, () => ({}));
  schema.fields.forEach(({ name, dataType }, column) => {
    const read = cellReader(conforming.data.children[column] as unknown as ArrowDataLike, dataType, options);
    if (name === '__proto__') {
      rows.forEach((row, i) => {
        Object.defineProperty(row, name, {
          value: read(i),
          writable: true,
          enumerable: true,
          configurable: true,
        });
      });
    } else {
      for (let i = 0; i < rows.length; i++) rows[i]![name] = read(i);
    }
  });
  return rows;
}

const relaxed = new WeakMap<StructType, StructType>();

/** The same schema with every top-level column nullable: reading shows what is there. */
function withoutRequirements(schema: StructType): StructType {
  let made = relaxed.get(schema);
  if (made === undefined) {
    made = schema.fields.every((field) => field.nullable)
      ? schema
      : { type: 'struct', fields: schema.fields.map((field) => ({ ...field, nullable: true })) };
    relaxed.set(schema, made);
  }
  return made;
}
