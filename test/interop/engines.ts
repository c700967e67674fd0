import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { canonicalLines } from '../../src/cli/canonical.js';
import {
  createRuntime,
  openTable,
  type Row,
  type Runtime,
  type StructType,
  type Table,
} from '../../src/index.js';
import { serializeSchema } from '../../src/schema/schema-json.js';
import type { DataType, JsonObject } from '../../src/schema/types.js';
import { Engines } from '../support/engines/client.js';

interface Shared {
  readonly engines: Engines;
  readonly runtime: Runtime;
}

const KEY = Symbol.for('intervale.test.interop');

/** The one set of engines, and the one runtime, of a test run: all files of the suite run in one process, which keeps them. */
export function shared(): Shared {
  const place = globalThis as { [KEY]?: Shared };
  place[KEY] ??= { engines: Engines.start(), runtime: createRuntime() };
  return place[KEY];
}

/** For the files that use Spark: has it started before the first test, whose time would not do for fetching its jars. */
export function startSpark(): void {
  beforeAll(() => shared().engines.ask('spark.sql', { text: 'SELECT 1' }));
}

/** A folder for the tables of one test file, removed when the file is done. */
export function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'intervale-interop-'));
  afterAll(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

export const open = (url: string): Promise<Table> => openTable(url, { runtime: shared().runtime });

/** A table's schema as the engines take it: that of `metaData.schemaString`. */
export const schemaOf = (schema: StructType): JsonObject => JSON.parse(serializeSchema(schema)) as JsonObject;

/** Lines in the order of their UTF-8 bytes, which is that of all canonical answers. */
export function sorted(lines: readonly string[]): string[] {
  return [...lines].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

/** What this library reads of a version, in the canonical encoding. */
export async function ownLines(table: Table, version?: number): Promise<string[]> {
  const snapshot = await table.snapshot({ version });
  const lines: string[] = [];
  for await (const batch of snapshot.scan().batches()) lines.push(...canonicalLines(batch, snapshot.schema));
  return sorted(lines);
}

/** A row of the canonical encoding as this library's writers take it. */
export function rowOf(line: string, schema: StructType): Row {
  return cellOf(JSON.parse(line), schema) as Row;
}

function cellOf(value: unknown, type: DataType): unknown {
  if (value === null) return null;
  switch (type.type) {
    case 'long':
      return BigInt(value as string);
    case 'float':
    case 'double':
      return value === '-0' ? -0 : Number(value);
    case 'binary':
      return new Uint8Array(Buffer.from(value as string, 'base64'));
    case 'array':
      return (value as unknown[]).map((element) => cellOf(element, type.elementType));
    case 'map':
      return new Map(
        (value as [unknown, unknown][]).map(([k, v]) => [cellOf(k, type.keyType), cellOf(v, type.valueType)]),
      );
    case 'struct':
      return Object.fromEntries(
        type.fields.map(({ name, dataType }) => [name, cellOf((value as Row)[name], dataType)]),
      );
    default:
      return value;
  }
}

export type Reader = 'spark' | 'deltars' | 'duckdb' | 'pyarrow';
const READERS: readonly Reader[] = ['spark', 'deltars', 'duckdb', 'pyarrow'];

/**
 * Holds when every engine reads exactly these rows of the newest version of a local table, as this library does. `except` names those that cannot, which
 * the test should say why.
 */
export async function expectRows(
  url: string,
  lines: readonly string[],
  except: readonly Reader[] = [],
): Promise<void> {
  const expected = sorted(lines);
  const table = await open(url);
  expect.soft(await ownLines(table), 'read here').toEqual(expected);
  for (const reader of READERS) {
    if (!except.includes(reader))
      expect.soft(sorted(await readBy(reader, url)), `read by ${reader}`).toEqual(expected);
  }
}

async function readBy(reader: Reader, url: string): Promise<readonly string[]> {
  const { engines } = shared();
  if (reader === 'spark') return (await engines.ask('spark.read', { url })).lines;
  if (reader === 'deltars') return (await engines.ask('deltars.read', { url })).lines;
  const snapshot = await (await open(url)).snapshot();
  return engines.ask(`files.${reader}`, {
    root: url,
    schema: schemaOf(snapshot.schema),
    partitionColumns: snapshot.partitionColumns,
    files: await snapshot.files(),
  });
}
