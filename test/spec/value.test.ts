import { readFile } from 'node:fs/promises';
import type { RecordBatch } from 'apache-arrow';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import { isTableError } from '../../src/errors.js';
import { toArrowSchema } from '../../src/schema/arrow.js';
import { conformBatch } from '../../src/schema/conform.js';
import { parseDdl, parseDdlType } from '../../src/schema/ddl.js';
import {
  parsePartitionValue,
  partitionKey,
  serializePartitionValue,
} from '../../src/schema/partition-value.js';
import { batchFromRows } from '../../src/schema/rows-in.js';
import { rowsFromBatch } from '../../src/schema/rows-out.js';
import { parseSchema, serializeSchema } from '../../src/schema/schema-json.js';
import type { DataType, Datum } from '../../src/schema/types.js';
import { assertStorable, protocolFor, validateSchema } from '../../src/schema/validate.js';
import { compareDatum, datumFromJsonToken, datumToStatJson } from '../../src/schema/value.js';
import { variantText } from '../../src/schema/variant.js';
import { arrowBatch } from '../support/arrow-columns.js';

async function cases<T>(name: string): Promise<(T & { name: string })[]> {
  const text = await readFile(new URL(`../../spec/cases/value/${name}.json`, import.meta.url), 'utf8');
  return JSON.parse(text).cases;
}

/** A datum as the cases spell it. */
function datum(type: DataType, json: unknown): Datum {
  if (json === null) return null;
  switch (type.type) {
    case 'long':
    case 'decimal':
    case 'timestamp':
    case 'timestamp_ntz':
      return BigInt(json as string);
    case 'binary':
      return new Uint8Array(Buffer.from(json as string, 'hex'));
    case 'float':
    case 'double':
      return Number(json);
    default:
      return json as Datum;
  }
}

/** Fails unless the call throws a TableError with the code, whose message holds `says`. */
function expectRefusal(call: () => unknown, code: string, says = ''): Record<string, unknown> {
  try {
    call();
  } catch (error) {
    if (!isTableError(error)) throw error;
    expect(error.code).toBe(code);
    expect(error.message).toContain(says);
    return error.context as Record<string, unknown>;
  }
  throw new Error(`expected ${code}`);
}

interface PartitionCase {
  type: string;
  datum?: unknown;
  written?: string | null;
  raw?: string;
  reads?: unknown;
  zone?: string;
  refused?: string;
  types?: string[];
  keys?: [(string | null)[], (string | null)[]];
  equal?: boolean;
}

describe('partition values', async () => {
  test.each(await cases<PartitionCase>('partition-values'))('$name', (c) => {
    if (c.keys !== undefined) {
      const types = c.types!.map(parseDdlType);
      const [a, b] = c.keys.map((raws) => partitionKey(types, raws));
      if (c.equal) expect(a).toBe(b);
      else expect(a).not.toBe(b);
      return;
    }
    const type = parseDdlType(c.type);
    if ('raw' in c) {
      const read = () => parsePartitionValue(type, c.raw!, { legacyTimestampZone: c.zone });
      if (c.refused) expectRefusal(read, c.refused, c.raw!);
      else expect(read()).toEqual(datum(type, c.reads));
    } else if (c.refused) {
      expectRefusal(() => serializePartitionValue(type, datum(type, c.datum)), c.refused);
    } else {
      const value = datum(type, c.datum);
      const written = serializePartitionValue(type, value);
      expect(written).toBe(c.written);
      expect(parsePartitionValue(type, written)).toEqual(value);
    }
  });
});

interface StatisticCase {
  type: string;
  datum?: unknown;
  min?: string | null;
  max?: string | null;
  token?: string;
  readsMin?: unknown;
  readsMax?: unknown;
}

describe('statistics', async () => {
  test.each(await cases<StatisticCase>('statistics'))('$name', (c) => {
    const type = parseDdlType(c.type);
    if (c.token !== undefined) {
      expect(datumFromJsonToken(type, c.token, 'min') ?? null).toEqual(datum(type, c.readsMin));
      expect(datumFromJsonToken(type, c.token, 'max') ?? null).toEqual(datum(type, c.readsMax));
      return;
    }
    const value = datum(type, c.datum);
    const [min, max] = (['min', 'max'] as const).map((bound) => datumToStatJson(type, value, bound));
    expect(min === undefined ? null : JSON.parse(min)).toEqual(c.min === null ? null : JSON.parse(c.min!));
    expect(max === undefined ? null : JSON.parse(max)).toEqual(c.max === null ? null : JSON.parse(c.max!));
    if (type.type !== 'string') expect([min ?? null, max ?? null]).toEqual([c.min, c.max]);
    if (min !== undefined)
      expect(compareDatum(type, datumFromJsonToken(type, min, 'min')!, value)).toBeLessThanOrEqual(0);
    if (max !== undefined)
      expect(compareDatum(type, datumFromJsonToken(type, max, 'max')!, value)).toBeGreaterThanOrEqual(0);
  });
});

interface RowCase {
  schema: string;
  row: Record<string, unknown>;
  gives?: Record<string, unknown>;
  days?: number;
  refused?: string;
  column?: string;
  says?: string;
}

/** Replaces the stand-ins for values that JSON has not. */
function revive(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(revive);
  if (typeof value !== 'object' || value === null) return value;
  const [first] = Object.entries(value);
  if (first?.[0].startsWith('$')) return REVIVERS[first[0]]!(first[1] as never);
  const copy = {};
  for (const [key, inner] of Object.entries(value)) {
    Object.defineProperty(copy, key, {
      value: revive(inner),
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return copy;
}

const REVIVERS: Record<string, (value: never) => unknown> = {
  $bigint: (text: string) => BigInt(text),
  $number: (text: string) => Number(text),
  $date: (text: string) => new Date(text),
  $instant: (text: string) => Temporal.Instant.from(text),
  $plainDate: (text: string) => Temporal.PlainDate.from(text),
  $plainDateTime: (text: string) => Temporal.PlainDateTime.from(text),
  $hex: (text: string) => new Uint8Array(Buffer.from(text, 'hex')),
  $map: (entries: [unknown, unknown][]) =>
    new Map(entries.map(([key, value]) => [revive(key), revive(value)])),
  $undefined: () => undefined,
};

describe('rows', async () => {
  test.each(await cases<RowCase>('rows'))('$name', (c) => {
    const schema = parseDdl(c.schema);
    const row = revive(c.row) as Record<string, unknown>;
    if (c.refused !== undefined) {
      const context = expectRefusal(() => batchFromRows([row], schema, { firstRow: 7 }), c.refused, c.says);
      expect(context).toMatchObject({ row: 7, column: c.column });
      return;
    }
    const batch = batchFromRows([row], schema);
    const [read] = rowsFromBatch(batch, schema, { timestamp: 'string' });
    expect(Object.entries(read!)).toEqual(Object.entries(revive(c.gives) as object));
    if (c.days !== undefined)
      expect(rowsFromBatch(batch, schema, { timestamp: 'micros' })[0]!.a).toBe(c.days);
  });
});

interface ArrowCase {
  schema: string;
  columns: { name: string; type: string; values: unknown[] }[];
  naive?: 'utc';
  rows?: Record<string, unknown>[];
  refused?: string;
  column?: string;
  row?: number;
  says?: string;
}

describe('arrow', async () => {
  test.each(await cases<ArrowCase>('arrow'))('$name', (c) => {
    const schema = parseDdl(c.schema);
    const batch = arrowBatch(c.columns.map((column) => ({ ...column, values: column.values.map(revive) })));
    const conform = () => conformBatch(batch, schema, { naive: c.naive, firstRow: 10 });
    if (c.refused !== undefined) {
      const context = expectRefusal(conform, c.refused, c.says);
      expect(context.column).toBe(c.column);
      expect(context.row).toBe(c.row === undefined ? undefined : c.row + 10);
      return;
    }
    const conformed = conform();
    expect(conformed.schema.fields.map(String)).toEqual(toArrowSchema(schema).fields.map(String));
    const read = (from: RecordBatch) =>
      rowsFromBatch(from, schema, { timestamp: 'string' }).map((row) => Object.entries(row));
    const expected = c.rows!.map((row) => Object.entries(revive(row) as object));
    expect(read(conformed)).toEqual(expected);
    expect(conformBatch(conformed, schema)).toBe(conformed);
    expect(read(conformBatch(batch.slice(1), schema, { naive: c.naive }))).toEqual(expected.slice(1));
  });
});

interface VariantCase {
  metadata: string;
  value: string;
  json?: string;
  refused?: string;
}

describe('variants', async () => {
  test.each(await cases<VariantCase>('variants'))('$name', (c) => {
    const [metadata, value] = [c.metadata, c.value].map((hex) => new Uint8Array(Buffer.from(hex, 'hex')));
    const read = () => variantText(metadata!, value!);
    if (c.refused !== undefined) expectRefusal(read, c.refused);
    else expect(read()).toBe(c.json);
  });
});

interface OrderCase {
  type: string;
  ascending?: unknown[];
  equal?: [unknown, unknown];
}

describe('order', async () => {
  test.each(await cases<OrderCase>('order'))('$name', (c) => {
    const type = parseDdlType(c.type);
    const values = (c.ascending ?? c.equal!).map((value) => datum(type, value));
    values.forEach((a, i) => {
      values.forEach((b, j) => {
        expect(Math.sign(compareDatum(type, a, b))).toBe(c.equal ? 0 : Math.sign(i - j));
      });
    });
  });
});

interface SchemaCase {
  schemaString?: string;
  same?: boolean;
  writes?: string;
  nest?: number;
  store?: string;
  column?: string;
  ddl?: string;
  partitionBy?: string[];
  properties?: Record<string, string>;
  protocol?: unknown;
  refused?: string;
  says?: string;
}

describe('schemas', async () => {
  test.each(await cases<SchemaCase>('schemas'))('$name', (c) => {
    if (c.ddl !== undefined) {
      const schema = parseDdl(c.ddl);
      const validate = () => validateSchema(schema, c.partitionBy!, c.properties);
      if (c.refused !== undefined) {
        expectRefusal(validate, c.refused, c.says);
        return;
      }
      validate();
      expect(protocolFor(schema, c.properties!)).toEqual(c.protocol);
      return;
    }
    if (c.store !== undefined) {
      const schema = parseDdl(c.store);
      if (c.refused === undefined) assertStorable(schema);
      else expect(expectRefusal(() => assertStorable(schema), c.refused)).toMatchObject({ column: c.column });
      return;
    }
    const open = '{"type":"array","containsNull":true,"elementType":';
    const text =
      c.schemaString ??
      `{"type":"struct","fields":[{"name":"a","type":${open.repeat(c.nest!)}"string"${'}'.repeat(c.nest!)}}]}`;
    if (c.refused !== undefined) expectRefusal(() => parseSchema(text), c.refused, c.says);
    else expect(serializeSchema(parseSchema(text))).toBe(c.same ? text : c.writes);
  });
});
