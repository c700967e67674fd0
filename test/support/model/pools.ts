import type { Cell, CellType, Column } from './cells.js';

/** Values that matter, by type. */
export const POOLS: Readonly<Record<CellType, readonly Cell[]>> = {
  long: ['9223372036854775807', '-9223372036854775808', '9007199254740993', '9007199254740992'],
  integer: [-1_000_000, 1_000_000, 0],
  short: [-32_760, 32_760, 0],
  date: ['2024-01-01', '2024-01-02', '2024-02-29', '1969-12-31', '1582-10-10', '0001-01-01'],
  'decimal(12,2)': ['0.00', '-1.50', '1.00', '0.01', '12345.67', '99999999.99', '-99999999.99'],
  timestamp: [
    '2024-01-01T00:00:00.000000Z',
    '2024-02-29T12:34:56.789012Z',
    '2024-02-29T12:34:56.789013Z',
    '1969-12-31T23:59:59.999999Z',
    '1700-01-01T00:00:00.000001Z',
  ],
  double: [0, '-0', 1.5, -2.25, 0.1, 'NaN', 'Infinity', '-Infinity'],
  boolean: [true, false],
  string: ['', 'a', 'b', "it's", 'é😀', '\uff5e', 'null', 'a\\b', 'x y', 'line\nbreak', '100%'],
};
export const PARTITION_TEXTS = ['a', 'b', "it's", 'é😀', 'null', 'NULL', 'a/b c%', 'k=v', 'a%20b', 'x y '];
export const PATTERNS = ['%a%', 'a%', '_', "%'s", '%😀', 'x_y', '%', ''];
/** Properties of tables: what writes differ by. */
export const LAYOUTS: readonly Readonly<Record<string, string>>[] = [
  {},
  { 'delta.checkpointInterval': '3', 'delta.dataSkippingNumIndexedCols': '1' },
  { 'delta.enableDeletionVectors': 'true' },
  { 'delta.enableChangeDataFeed': 'true', 'delta.checkpointInterval': '2' },
  { 'delta.columnMapping.mode': 'name', 'delta.enableDeletionVectors': 'true' },
  {
    'delta.enableChangeDataFeed': 'true',
    'delta.enableDeletionVectors': 'true',
    'delta.enableRowTracking': 'true',
    'delta.checkpointPolicy': 'v2',
    'delta.checkpointInterval': '3',
  },
  { 'delta.enableInCommitTimestamps': 'true', 'delta.enableRowTracking': 'true' },
  { 'delta.enableTypeWidening': 'true', 'delta.checkpointInterval': '3' },
];
/** What a property may become later. */
export const TOGGLES = ['delta.enableDeletionVectors', 'delta.enableChangeDataFeed'] as const;
/** Applications that write with tokens. */
export const APPS = ['a', 'b'] as const;
export const PARTITIONS: readonly (readonly Column[])[] = [
  [],
  ['p'],
  ['p'],
  ['d'],
  ['p', 'd'],
  ['m'],
  ['t', 'b'],
  ['n'],
];
