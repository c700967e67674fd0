import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import * as api from '../../src/index.js';

const FUNCTIONS_OF_PREDICATES = [
  'add',
  'and',
  'between',
  'call',
  'caseWhen',
  'cast',
  'col',
  'date',
  'decimal',
  'divide',
  'eq',
  'ge',
  'gt',
  'isFalse',
  'isIn',
  'isNotNull',
  'isNull',
  'isTrue',
  'le',
  'like',
  'lit',
  'lt',
  'modulo',
  'multiply',
  'negate',
  'neq',
  'not',
  'nullSafeEq',
  'or',
  'parsePredicate',
  'subtract',
  'timestamp',
  'timestampNtz',
];
const TABLES = ['createRuntime', 'createTable', 'openOrCreate', 'openTable'];
const SCHEMAS = ['fromArrowSchema', 'parseDdl', 'toArrowSchema'];
const PIPELINES = [
  'Calendar',
  'covers',
  'definePipeline',
  'difference',
  'gaps',
  'intersection',
  'intervalsOf',
  'parseCron',
  'parseInterval',
  'union',
];
const ERRORS = ['ERROR_CODES', 'TableError', 'VERSION', 'isTableError'];

test('the public API is this and no more', () => {
  const expected = [...FUNCTIONS_OF_PREDICATES, ...TABLES, ...SCHEMAS, ...PIPELINES, ...ERRORS];
  expect(Object.keys(api).sort()).toEqual(expected.sort());
});

test('the package has these dependencies, pinned, and these ways in', async () => {
  const manifest = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')) as {
    dependencies: Record<string, string>;
    devDependencies: Record<string, string>;
    exports: Record<string, unknown>;
    bin: Record<string, string>;
  };
  expect(Object.keys(manifest.dependencies)).toEqual([
    '@aws-sdk/client-s3',
    'apache-arrow',
    'arrow-js-ffi',
    'cli-progress',
    'commander',
    'fzstd',
    'jiti',
    'parquet-wasm',
    'temporal-polyfill',
  ]);
  for (const version of Object.values({ ...manifest.dependencies, ...manifest.devDependencies }))
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  expect(Object.keys(manifest.exports)).toEqual(['.', './store-conformance', './package.json']);
  expect(manifest.bin).toEqual({ tablectl: 'bin/tablectl.js' });
});
