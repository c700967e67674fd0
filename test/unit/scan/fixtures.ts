import type { RecordBatch } from 'apache-arrow';
import fc from 'fast-check';
import type { AddAction, MetadataAction } from '../../../src/log/actions.js';
import type { BoundColumn } from '../../../src/scan/bind.js';
import * as p from '../../../src/scan/predicate.js';
import type { PruneState } from '../../../src/scan/prune.js';
import { serializePartitionValue } from '../../../src/schema/partition-value.js';
import { batchFromRows } from '../../../src/schema/rows-in.js';
import { serializeSchema } from '../../../src/schema/schema-json.js';
import type { DataType, Datum, StructField, StructType } from '../../../src/schema/types.js';
import { compareDatum, datumToJs, datumToStatJson } from '../../../src/schema/value.js';

export const field = (name: string, dataType: DataType): StructField => ({
  name,
  dataType,
  nullable: true,
  metadata: {},
});

export const SCHEMA: StructType = {
  type: 'struct',
  fields: [
    field('id', { type: 'long' }),
    field('n', { type: 'integer' }),
    field('x', { type: 'double' }),
    field('f', { type: 'float' }),
    field('s', { type: 'string' }),
    field('day', { type: 'date' }),
    field('ts', { type: 'timestamp' }),
    field('wall', { type: 'timestamp_ntz' }),
    field('amount', { type: 'decimal', precision: 10, scale: 2 }),
    field('flag', { type: 'boolean' }),
    field('bin', { type: 'binary' }),
    field('nest', {
      type: 'struct',
      fields: [field('a', { type: 'integer' }), field('s', { type: 'string' })],
    }),
    field('part', { type: 'string' }),
    field('pday', { type: 'date' }),
  ],
};
export const PARTITIONS = ['part', 'pday'];

/** A row by dotted leaf name; `nest` null as a whole when both its leaves are. */
export type Leaves = Readonly<Record<string, Datum>>;
export const LEAVES: readonly (readonly [string, DataType])[] = SCHEMA.fields.flatMap(
  ({ name, dataType }): [string, DataType][] =>
    dataType.type === 'struct'
      ? dataType.fields.map((inner) => [`${name}.${inner.name}`, inner.dataType])
      : [[name, dataType]],
);

const LONG_TEXT = 'a long text that is cut in statistics, ';
const POOLS: Readonly<Record<string, readonly Datum[]>> = {
  long: [
    0n,
    1n,
    -1n,
    2n,
    5n,
    9007199254740992n,
    9007199254740993n,
    9223372036854775807n,
    -9223372036854775808n,
  ],
  integer: [0, 1, -1, 2, 3, 5, 2147483647, -2147483648],
  double: [0, -0, 0.1, 1, 2.5, -3, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e300],
  float: [0, 0.1, 1, 2.5, -3, Number.NaN, Number.POSITIVE_INFINITY].map(Math.fround),
  string: [
    '',
    'a',
    'ab',
    'abc',
    'b',
    'é',
    '\u{ffee}',
    '😀',
    `${LONG_TEXT}a`,
    `${LONG_TEXT}b`,
    'it\'s "q" \\ %_',
    'a\nb',
  ],
  date: [0, -1, -719162, 19723, 19724, 19700, 30000],
  timestamp: [
    0n,
    -1n,
    1704067200123456n,
    1704067200123999n,
    1704067200123000n,
    1704067200124000n,
    1704153600000000n,
    -2342342342n,
  ],
  decimal: [0n, 1n, -1n, 150n, 149n, 100n, -1234567n, 9999999999n],
  boolean: [true, false],
};
export function pool(type: DataType): readonly Datum[] {
  if (type.type === 'timestamp_ntz') return POOLS.timestamp!;
  if (type.type === 'binary')
    return [new Uint8Array(), Uint8Array.of(1), Uint8Array.of(1, 255), Uint8Array.of(97, 98)];
  return POOLS[type.type]!;
}

const nullable = (type: DataType): fc.Arbitrary<Datum> =>
  fc.oneof(
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: 4, arbitrary: fc.constantFrom(...pool(type)) },
  );

/** Partition strings are not empty: the protocol has no way to write them. */
export const leavesArbitrary: fc.Arbitrary<Leaves> = fc.record(
  Object.fromEntries(
    LEAVES.map(([name, type]) => [
      name,
      name === 'part' ? nullable(type).map((v) => (v === '' ? 'a' : v)) : nullable(type),
    ]),
  ),
);

export function batchOf(rows: readonly Leaves[]): RecordBatch {
  const js = (name: string, type: DataType, row: Leaves): unknown => datumToJs(type, row[name]!);
  return batchFromRows(
    rows.map((row) =>
      Object.fromEntries(
        SCHEMA.fields.map(({ name, dataType }) => {
          if (dataType.type !== 'struct') return [name, js(name, dataType, row)];
          const inner = dataType.fields.map(
            (each) => [each.name, js(`${name}.${each.name}`, each.dataType, row)] as const,
          );
          return [name, inner.every(([, value]) => value === null) ? null : Object.fromEntries(inner)];
        }),
      ),
    ),
    SCHEMA,
  );
}

export const datumIn =
  (row: Leaves) =>
  (column: BoundColumn): Datum => {
    const value = row[column.path.join('.')];
    if (value !== undefined) return value;
    return row['nest.a'] === null && row['nest.s'] === null ? null : true;
  };

export interface FakeFile {
  readonly rows: readonly Leaves[];
  readonly part: Datum;
  readonly pday: Datum;
  /** Columns without statistics. */
  readonly without: ReadonlySet<string>;
  /** As writers do that take minima and maxima without NaN. */
  readonly ignoresNaN: boolean;
}

export const fileArbitrary: fc.Arbitrary<FakeFile> = fc
  .record({
    rows: fc.array(leavesArbitrary, { minLength: 0, maxLength: 4 }),
    keys: leavesArbitrary,
    without: fc.uniqueArray(fc.constantFrom(...LEAVES.map(([name]) => name)), { maxLength: 4 }),
    ignoresNaN: fc.boolean(),
  })
  .map(({ rows, keys, without, ignoresNaN }) => ({
    rows: rows.map((row) => ({ ...row, part: keys.part!, pday: keys.pday! })),
    part: keys.part!,
    pday: keys.pday!,
    without: new Set(without),
    ignoresNaN,
  }));

export const METADATA: MetadataAction = {
  id: '00000000-0000-4000-8000-000000000000',
  format: { provider: 'parquet', options: {} },
  schemaString: serializeSchema(SCHEMA),
  partitionColumns: PARTITIONS,
  configuration: {},
};

function statistic(file: FakeFile, name: string, type: DataType, bound: 'min' | 'max'): string | undefined {
  if (file.without.has(name) || type.type === 'boolean' || type.type === 'binary') return undefined;
  const values = file.rows.map((row) => row[name]!).filter((value) => value !== null);
  const numbers = values.filter((value) => !Number.isNaN(value));
  if (numbers.length < values.length && !file.ignoresNaN) return undefined;
  const sorted = numbers.sort((a, b) => compareDatum(type, a, b));
  const value = bound === 'min' ? sorted[0] : sorted.at(-1);
  return value === undefined ? undefined : datumToStatJson(type, value, bound);
}

/** The action that adds the file, with its statistics. */
export function addOf(file: FakeFile, path: string): AddAction {
  const sections = (['min', 'max'] as const).map((bound) => {
    const members = SCHEMA.fields.flatMap(({ name, dataType }) => {
      if (dataType.type !== 'struct') return member(name, statistic(file, name, dataType, bound));
      const inner = dataType.fields.flatMap((each) =>
        member(each.name, statistic(file, `${name}.${each.name}`, each.dataType, bound)),
      );
      return inner.length === 0 ? [] : member(name, `{${inner.join()}}`);
    });
    return `"${bound}Values":{${members.join()}}`;
  });
  const nulls = SCHEMA.fields
    .filter(({ name, dataType }) => dataType.type !== 'struct' && !file.without.has(name))
    .map(({ name }) => `${JSON.stringify(name)}:${file.rows.filter((row) => row[name] === null).length}`);
  return {
    path,
    partitionValues: Object.fromEntries(
      PARTITIONS.map((name) => [
        name,
        serializePartitionValue(new Map(LEAVES).get(name)!, file[name as 'part' | 'pday']),
      ]),
    ),
    size: 1,
    modificationTime: 0,
    dataChange: true,
    stats: `{"numRecords":${file.rows.length},${sections.join()},"nullCount":{${nulls.join()}}}`,
  };
}

function member(name: string, token: string | undefined): string[] {
  return token === undefined ? [] : [`${JSON.stringify(name)}:${token}`];
}

/** A state with statistics computed from rows, as a checkpoint or commits would give them. */
export function stateOf(files: readonly FakeFile[]): PruneState & { loads: number } {
  let loads = 0;
  const typeOf = new Map(LEAVES);
  const partition = (name: string) => {
    if (!PARTITIONS.includes(name)) return undefined;
    const values: (string | null)[] = [];
    const codes = Int32Array.from(files, (file) => {
      const raw = serializePartitionValue(typeOf.get(name)!, file[name as 'part' | 'pday']);
      if (!values.includes(raw)) values.push(raw);
      return values.indexOf(raw);
    });
    return { codes, values };
  };
  return {
    metadata: METADATA,
    schema: SCHEMA,
    get loads() {
      return loads;
    },
    files: {
      load: async () => {
        loads++;
      },
      ids: () => Int32Array.from(files, (_, i) => i),
      partition,
      numRecords: (id) => files[id]!.rows.length,
      statistics: (path) => {
        const name = path.join('.');
        const type = typeOf.get(name);
        return {
          min: (id) => (type === undefined ? undefined : statistic(files[id]!, name, type, 'min')),
          max: (id) => (type === undefined ? undefined : statistic(files[id]!, name, type, 'max')),
          nullCount: (id) => {
            if (type === undefined || files[id]!.without.has(name)) return undefined;
            return files[id]!.rows.filter((row) => row[name] === null).length;
          },
        };
      },
    },
  };
}

const columns = LEAVES.map(([name, type]) => ({ name, type, column: p.col(name) }));

function literalOf(type: DataType): fc.Arbitrary<p.Expression> {
  return fc.constantFrom(...pool(type)).map((value) => p.lit(value as p.LiteralValue, type));
}

/** Literals of other types than the column's, as people write them. */
const ODD: Readonly<Record<string, readonly p.Expression[]>> = {
  long: [
    p.decimal('1.5'),
    p.lit(0.5),
    p.lit('2'),
    p.decimal('99999999999999999999'),
    p.lit(Number.NaN),
    p.lit(null),
  ],
  integer: [
    p.decimal('1.5'),
    p.lit(1e300),
    p.lit('2'),
    p.lit(9007199254740993n),
    p.lit(Number.NEGATIVE_INFINITY),
  ],
  double: [p.decimal('0.1'), p.lit(1), p.lit('2.5'), p.lit(9007199254740993n)],
  float: [p.decimal('0.1'), p.lit(1), p.lit(0.1)],
  decimal: [p.decimal('1.495'), p.lit(1), p.lit(1.5), p.lit('1.50'), p.decimal('123456789012.5')],
  string: [p.lit(1), p.date('2024-01-01'), p.lit(true)],
  date: [p.lit('2024-01-01'), p.timestamp('2024-01-01T12:00:00Z'), p.timestampNtz('2024-01-02')],
  timestamp: [
    p.lit('2024-01-01T00:00:00.123456Z'),
    p.lit('2024-01-01'),
    p.date('2024-01-01'),
    p.timestampNtz('2024-01-02'),
  ],
  timestamp_ntz: [p.date('2024-01-01'), p.timestamp('2024-01-01T00:00:00.1234Z')],
  boolean: [p.lit('true'), p.lit(null)],
  binary: [p.lit('ab')],
};

const leafArbitrary: fc.Arbitrary<p.Expression> = fc.constantFrom(...columns).chain(({ type, column }) => {
  const odd = ODD[type.type] ?? [];
  const literal =
    odd.length === 0
      ? literalOf(type)
      : fc.oneof(
          { weight: 3, arbitrary: literalOf(type) },
          { weight: 1, arbitrary: fc.constantFrom(...odd) },
        );
  const op = fc.constantFrom<p.CompareOperator>('=', '<=>', '<>', '<', '<=', '>', '>=');
  const compared = fc
    .tuple(op, literal, fc.boolean())
    .map(([o, l, flip]) => (flip ? p.compare(o, l, column) : p.compare(o, column, l)));
  const listed = fc
    .array(fc.oneof(literal, fc.constant(p.lit(null))), { minLength: 1, maxLength: 4 })
    .map((list) => p.isIn(column, list));
  const ranged = fc.tuple(literal, literal).map(([low, high]) => p.between(column, low, high));
  return fc.oneof({ weight: 4, arbitrary: compared }, listed, ranged, fc.constant(p.isNull(column)));
});

const ts = p.col('ts');
const specialArbitrary: fc.Arbitrary<p.Expression> = fc.constantFrom(
  p.col('flag'),
  p.lit(true),
  p.lit(null),
  p.like(p.col('s'), 'a%'),
  p.like(p.col('s'), 'a_%'),
  p.like(p.col('s'), '%b'),
  p.like(p.col('s'), '%'),
  p.like(p.col('part'), 'ab%'),
  p.like(p.col('s'), 'a long text that is cut in statis%'),
  p.eq(p.call('date', ts), p.date('2024-01-01')),
  p.isIn(p.call('date', ts), [p.date('2024-01-01'), p.date('2024-01-03')]),
  p.ge(p.call('year', ts), 2024),
  p.lt(p.call('date_trunc', 'HOUR', ts), p.timestamp('2024-01-01T01:00:00Z')),
  p.le(p.call('date_add', p.col('day'), 1), p.date('2024-01-02')),
  p.gt(p.add(p.col('n'), 1), 2),
  p.eq(p.col('part'), p.col('s')),
  p.lt(p.col('n'), p.col('id')),
  p.nullSafeEq(p.col('n'), p.col('nest.a')),
  p.gt(p.col('day'), p.col('pday')),
  p.eq(p.call('substring', p.col('part'), 1, 1), 'a'),
  p.or(p.eq(p.col('part'), 'a'), p.gt(p.col('pday'), p.date('2024-01-01'))),
  p.isNull(p.col('nest')),
  p.call('coalesce', p.col('flag'), false),
  p.eq(p.caseWhen([{ when: p.gt(p.col('n'), 1), result: 'x' }], p.col('s')), 'x'),
  p.lt(p.cast(p.col('n'), { type: 'double' }), 1.5),
  p.gt(p.cast(p.col('s'), { type: 'integer' }), 0),
);

/** Random conditions over `SCHEMA`. */
export const predicateArbitrary: fc.Arbitrary<p.Expression> = fc.letrec<{ tree: p.Expression }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leafArbitrary,
    leafArbitrary,
    specialArbitrary,
    fc.array(tie('tree'), { minLength: 1, maxLength: 3 }).map((each) => p.and(...each)),
    fc.array(tie('tree'), { minLength: 1, maxLength: 3 }).map((each) => p.or(...each)),
    tie('tree').map(p.not),
    tie('tree').map(p.isTrue),
    tie('tree').map(p.isFalse),
  ),
})).tree;
