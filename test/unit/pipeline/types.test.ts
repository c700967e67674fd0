import { Temporal } from 'temporal-polyfill';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { definePipeline, type Row } from '../../../src/index.js';
import type { RowOf } from '../../../src/schema/row-type.js';

const base = { name: 'p', table: 'memory://p', every: 'day', start: '2024-01-01' } as const;
const SCHEMA = 'ts timestamp not null, day date, id long not null, value string';

interface Event {
  readonly ts: Date;
  readonly id: number;
}

describe('the rows of a schema', () => {
  test('are those that its text names', () => {
    expectTypeOf<RowOf<'id long not null, price decimal(10, 2), `odd name` string>'>>;
    type Rows = RowOf<`
      id BIGINT NOT NULL,
      price decimal(10, 2),
      \`odd name\` varchar(3) not null,
      tags array<struct<a: int not null, b: string>>,
      at map<string, int> not null`>;
    expectTypeOf<Rows>().toEqualTypeOf<{
      id: bigint | number;
      price?: string | number | bigint | null;
      'odd name': string;
      tags?: object | null;
      at: object;
    }>();
    expectTypeOf<RowOf<string>>().toEqualTypeOf<Row>();
    expectTypeOf<RowOf<"id long comment 'a, b'">>().toEqualTypeOf<Row>();
  });
});

describe('a pipeline', () => {
  test('gives rows of its type and names their columns', () => {
    const typed = definePipeline<Event>({
      ...base,
      column: 'ts',
      mode: 'upsert',
      on: ['id'],
      order: 'ts',
      async *produce({ interval }) {
        yield { ts: new Date(interval.startMs), id: 1 };
      },
    });
    expect(typed.name).toBe('p');
    // @ts-expect-error no such column
    definePipeline<Event>({ ...base, column: 'day', produce: () => [] });
    // @ts-expect-error no such key
    definePipeline<Event>({ ...base, column: 'ts', mode: 'upsert', on: ['day'], produce: () => [] });
    definePipeline<Event>({
      ...base,
      column: 'ts',
      mode: 'upsert',
      on: ['id'],
      // @ts-expect-error no such order
      order: 'x',
      produce: () => [],
    });
    // @ts-expect-error a row that lacks a column
    definePipeline<Event>({ ...base, column: 'ts', produce: () => [{ ts: new Date(0) }] });
    // @ts-expect-error a value of another type
    definePipeline<Event>({ ...base, column: 'ts', produce: () => [{ ts: new Date(0), id: 'one' }] });
  });

  test('takes the type of its rows from the text of its schema', () => {
    const create = { schema: SCHEMA } as const;
    definePipeline({
      ...base,
      create: { schema: SCHEMA, partitionBy: ['day'] },
      column: 'ts',
      mode: 'upsert',
      on: ['id', 'day'],
      order: 'ts',
      async *produce({ interval }) {
        yield { ts: interval.start, day: interval.date, id: 1n, value: null };
        yield { ts: interval.start.toString(), day: '2024-01-01', id: 1 };
        yield { ts: new Date(0), id: 2, value: 'a' };
        yield { ts: Temporal.Now.zonedDateTimeISO(), id: 2 };
      },
    });
    // @ts-expect-error no such column
    definePipeline({ ...base, create, column: 'hour', produce: () => [] });
    // @ts-expect-error no such key
    definePipeline({ ...base, create, column: 'ts', mode: 'upsert', on: ['key'], produce: () => [] });
    // @ts-expect-error id may not be NULL
    definePipeline({ ...base, create, column: 'ts', produce: () => [{ ts: new Date(0), id: null }] });
    // @ts-expect-error ts may not be left out
    definePipeline({ ...base, create, column: 'ts', produce: () => [{ id: 1 }] });
    definePipeline({
      ...base,
      create,
      column: 'ts',
      // @ts-expect-error a value is text
      async *produce() {
        yield { ts: new Date(0), id: 1, value: 5 };
      },
    });
    // @ts-expect-error rows of no type
    definePipeline({ ...base, create, column: 'ts', produce: (): Row[] => [] });
    definePipeline<Row>({ ...base, create, column: 'ts', produce: (): Row[] => [] });
  });

  test('leaves rows as they are where nothing says what they hold', () => {
    const schema: string = SCHEMA;
    definePipeline({ ...base, column: 'anything', produce: () => [{ any: 'thing' }] });
    definePipeline({ ...base, create: { schema }, column: 'anything', produce: () => [{ any: 'thing' }] });
    definePipeline({
      ...base,
      create: { schema: { type: 'struct', fields: [] } },
      column: 'anything',
      produce: () => [{ any: 'thing' }],
    });
  });
});
