import type { Reader } from './engines.js';

/** One type of column, with values that matter, in the canonical encoding. NULL comes on top. */
export interface TypeCase {
  readonly type: string;
  /** As data. */
  readonly values: readonly unknown[];
  /** As partition values; those of `values` when absent. */
  readonly partitions?: readonly unknown[];
  /** Why an engine cannot write, or cannot read, a table partitioned by this type, found by trying. */
  readonly cannotWrite?: Partial<Record<'spark' | 'deltars', string>>;
  readonly cannotRead?: Partial<Record<Reader, string>>;
}

export const TYPES: readonly TypeCase[] = [
  { type: 'boolean', values: [true, false] },
  { type: 'byte', values: [-128, 127, 0] },
  { type: 'short', values: [-32768, 32767, 0] },
  { type: 'integer', values: [-2147483648, 2147483647, 0] },
  { type: 'long', values: ['-9223372036854775808', '9223372036854775807', '9007199254740993'] },
  {
    type: 'float',
    values: [1.5, -0.1, 3.4028235e38, 1e-45, 'NaN', 'Infinity', '-Infinity', '-0', 0],
    partitions: [1.5, -0.1, 3.4028235e38, 1e-45, 'NaN', 'Infinity', '-Infinity'],
  },
  {
    type: 'double',
    values: [0.1, -1.7976931348623157e308, 5e-324, 1e21, 'NaN', 'Infinity', '-Infinity', '-0', 0],
    // delta-rs spells a double out in full in the path, which the file system refuses for the very large and small.
    partitions: [0.1, -2.5, 1e21, 'NaN', 'Infinity', '-Infinity'],
  },
  {
    type: 'decimal(10,2)',
    values: ['-12345.67', '0.00', '99999999.99'],
    cannotWrite: { deltars: 'writes a negative decimal as -12345.-67' },
  },
  {
    type: 'decimal(38,18)',
    values: ['-99999999999999999999.999999999999999999', '0.000000000000000001'],
    cannotWrite: { deltars: 'writes a negative decimal with two signs' },
  },
  { type: 'string', values: ['abc', 'é😀', 'a b', 'null', 'NULL', '2024-01-01', 'tab\tand "quotes"'] },
  {
    type: 'binary',
    values: ['QUI=', 'AQL/', 'AA=='],
    partitions: ['QUI='],
    cannotWrite: { deltars: 'writes the escapes of the protocol, but reads them as they stand' },
  },
  { type: 'date', values: ['2024-02-29', '1969-12-31', '0001-01-01', '9999-12-31', '1582-10-10'] },
  {
    type: 'timestamp',
    values: [
      '2024-02-29T12:34:56.789012Z',
      '1969-12-31T23:59:59.999999Z',
      '2024-01-15T16:00:00.000000Z',
      '1700-01-01T00:00:00.000001Z',
    ],
    partitions: [
      '2024-02-29T12:34:56.789012Z',
      '1969-12-31T23:59:59.999999Z',
      '2024-01-15T16:00:00.000000Z',
      '0001-01-01T00:00:00.000000Z',
      '9999-12-31T23:59:59.999999Z',
    ],
  },
  {
    type: 'timestamp_ntz',
    values: [
      '2024-02-29T12:34:56.789012',
      '1969-12-31T23:59:59.999999',
      '2024-03-10T02:30:00.000000',
      '0001-01-01T00:00:00.000000',
    ],
  },
];

/** One row a value, NULL the last: `{ id, c }`. */
export function linesOf(values: readonly unknown[], firstId = 0): string[] {
  return [...values, null].map((c, i) => `{"id":${firstId + i},"c":${cell(c)}}`);
}

function cell(value: unknown): string {
  return JSON.stringify(value);
}

/** Partition values that have broken path handling somewhere. */
export const HARD_STRINGS: readonly string[] = [
  'a/b c%',
  'a%20b',
  'a+b',
  'R&D',
  'ID$',
  'x:y',
  'a?b#c',
  'é',
  '😀',
  '..',
  'a\\b',
  'a=b',
  'trailing space ',
  'trailing dot.',
  '__HIVE_DEFAULT_PARTITION__',
  '"quoted"',
  "it's",
  '{a,b}',
  '[x]*',
  '~^`|<>',
  'line\nbreak',
  '\u007f',
];

/** Those of them that other engines can write: they take the value out of the folder's name and so turn the marker of NULL into NULL. */
export const WRITTEN_BY_OTHERS = HARD_STRINGS.filter((value) => value !== '__HIVE_DEFAULT_PARTITION__');
