import { Table, tableFromIPC, tableToIPC } from 'apache-arrow';
import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import { conformBatch } from '../../../src/schema/conform.js';
import { parseDdl } from '../../../src/schema/ddl.js';
import { batchFromRows } from '../../../src/schema/rows-in.js';
import { rowsFromBatch } from '../../../src/schema/rows-out.js';
import type { DataType } from '../../../src/schema/types.js';
import { compareUtf8 } from '../../../src/schema/value.js';
import { anySchema, datumOf, rowOf } from './arbitraries.js';

/** Dates and timestamps are drawn as numbers: give them in the form rows take, and read them back as micros. */
function given(value: unknown, type: DataType): unknown {
  if (value === null || value === undefined) return value;
  switch (type.type) {
    case 'date':
      return new Date((value as number) * 86_400_000);
    case 'struct': {
      const out: Record<string, unknown> = Object.create(null);
      for (const field of type.fields)
        out[field.name] = given((value as Record<string, unknown>)[field.name], field.dataType);
      return out;
    }
    case 'array':
      return (value as unknown[]).map((element) => given(element, type.elementType));
    case 'map':
      return (value as [unknown, unknown][]).map(([k, v]) => [
        given(k, type.keyType),
        given(v, type.valueType),
      ]);
    default:
      return value;
  }
}

/** Maps as pairs, so that both sides are compared alike. */
function plain(value: unknown): unknown {
  if (value instanceof Map) return [...value].map((entry) => plain(entry));
  if (Array.isArray(value)) return value.map(plain);
  if (value !== null && typeof value === 'object' && !(value instanceof Uint8Array)) {
    return Object.entries(value).map(([key, inner]) => [key, plain(inner)]);
  }
  return value;
}

describe('rows and batches', () => {
  it('give back what they were given, for every type and nesting', () => {
    fc.assert(
      fc.property(
        anySchema.chain((schema) =>
          fc.tuple(fc.constant(schema), fc.array(rowOf(schema), { maxLength: 12 })),
        ),
        ([schema, rows]) => {
          const batch = batchFromRows(
            rows.map((row) => given(row, schema) as Record<string, unknown>),
            schema,
          );
          expect(conformBatch(batch, schema)).toBe(batch);
          expect(plain(rowsFromBatch(batch, schema, { timestamp: 'micros' }))).toEqual(plain(rows));
          const sliced = batch.slice(3, 8);
          expect(plain(rowsFromBatch(sliced, schema, { timestamp: 'micros' }))).toEqual(
            plain(rows.slice(3, 8)),
          );
          if (rows.length > 0) {
            // Other objects for the same data, as a file or another process gives them.
            const copy = tableFromIPC(tableToIPC(new Table(batch.schema, [batch]))).batches[0]!;
            const conformed = conformBatch(copy, schema);
            expect(conformed.schema.fields.every((f, i) => f.type === batch.schema.fields[i]!.type)).toBe(true);
            expect(plain(rowsFromBatch(conformed, schema, { timestamp: 'micros' }))).toEqual(plain(rows));
          }
        },
      ),
      { numRuns: 150 },
    );
  });
});
