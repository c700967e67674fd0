import { Table, tableFromIPC, tableToIPC } from 'apache-arrow';
import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import { conformBatch } from '../../../src/schema/conform.js';
import { parseDdl } from '../../../src/schema/ddl.js';
import { batchFromRows } from '../../../src/schema/rows-in.js';
import { rowsFromBatch } from '../../../src/schema/rows-out.js';
import type { DataType } from '../../../src/schema/types.js';
import { anySchema, rowOf } from './arbitraries.js';

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
            expect(conformed.schema.fields.every((f, i) => f.type === batch.schema.fields[i]!.type)).toBe(
              true,
            );
            expect(plain(rowsFromBatch(conformed, schema, { timestamp: 'micros' }))).toEqual(plain(rows));
          }
        },
      ),
      { numRuns: 150 },
    );
  });
});

describe('rows given', () => {
  it('are days and instants whatever the zone of the process', () => {
    const schema = parseDdl('d date, t timestamp');
    const before = process.env.TZ;
    try {
      for (const zone of ['Europe/Berlin', 'America/New_York']) {
        process.env.TZ = zone;
        const batch = batchFromRows([{ d: '2024-01-01', t: new Date(Date.UTC(2024, 0, 1)) }], schema);
        expect(rowsFromBatch(batch, schema, { timestamp: 'micros' })).toEqual([
          { d: 19_723, t: 1_704_067_200_000_000n },
        ]);
        expect(String(rowsFromBatch(batch, schema)[0]!.d)).toBe('2024-01-01');
        expect(() => batchFromRows([{ d: new Date(2024, 0, 1) }], schema)).toThrow(/midnight UTC/);
      }
    } finally {
      if (before === undefined) delete process.env.TZ;
      else process.env.TZ = before;
    }
  });

  it('of other shapes than objects are refused', () => {
    const schema = parseDdl('a int');
    for (const row of [null, 5, 'x', [1], new Map([['a', 1]]), new Date(0)]) {
      expect(() => batchFromRows([{ a: 1 }, row as never], schema)).toThrow(
        expect.objectContaining({ code: 'INVALID_ROW', context: expect.objectContaining({ row: 1 }) }),
      );
    }
  });

  it('are not changed, and Temporal of another calendar is the same day', () => {
    const schema = parseDdl('d date, t timestamp, n timestamp_ntz');
    const row = Object.freeze({
      D: Temporal.PlainDate.from('2024-02-29').withCalendar('gregory'),
      t: Temporal.ZonedDateTime.from('2024-01-15T16:00:00+01:00[Europe/Berlin]'),
      n: Temporal.PlainDateTime.from('2024-02-29T01:02:03.000004').withCalendar('gregory'),
    });
    expect(rowsFromBatch(batchFromRows([row], schema), schema, { timestamp: 'string' })).toEqual([
      { d: '2024-02-29', t: '2024-01-15T15:00:00.000000Z', n: '2024-02-29T01:02:03.000004' },
    ]);
  });
});

describe('rows read', () => {
  const schema = parseDdl('id long, m map<long,string>, k map<date,int>, b binary, `__proto__` int');
  const batch = batchFromRows(
    [
      {
        id: 2n ** 53n,
        m: new Map([[1n, 'x']]),
        k: [['2024-01-01', 1]],
        b: Uint8Array.of(1),
        ['__proto__']: 5,
      },
    ],
    schema,
  );

  it('have the forms asked for', () => {
    const [row] = rowsFromBatch(batch, schema);
    expect(row!.id).toBe(2n ** 53n);
    expect(row!.m).toEqual(new Map([[1n, 'x']]));
    expect(row!.k).toEqual([[expect.anything(), 1]]);
    expect(Object.keys(row!)).toEqual(['id', 'm', 'k', 'b', '__proto__']);
    expect(Object.getOwnPropertyDescriptor(row, '__proto__')!.value).toBe(5);
    expect(rowsFromBatch(batch, schema, { int64: 'string' })[0]!.m).toEqual(new Map([['1', 'x']]));
    expect(() => rowsFromBatch(batch, schema, { int64: 'number' })).toThrow(/2\^53/);
  });

  it('own their bytes', () => {
    const first = rowsFromBatch(batch, schema)[0]!.b as Uint8Array;
    first[0] = 9;
    expect(rowsFromBatch(batch, schema)[0]!.b).toEqual(Uint8Array.of(1));
  });
});

it('intervals are read, NULL is written, and values are refused', () => {
  const column = (name: string, type: 'interval year to month' | 'interval day to second') => ({
    name,
    dataType: { type },
    nullable: true,
    metadata: {},
  });
  const schema = {
    type: 'struct',
    fields: [column('m', 'interval year to month'), column('d', 'interval day to second')],
  } as const;
  expect(rowsFromBatch(batchFromRows([{}], schema), schema)).toEqual([{ m: null, d: null }]);
  expect(() => batchFromRows([{ m: 5 }], schema)).toThrow(/only be read/);
});
