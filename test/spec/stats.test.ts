import { readFile } from 'node:fs/promises';
import { type FileMetaData, parquetMetadata } from 'hyparquet';
import { afterAll, describe, expect, test } from 'vitest';
import { parseDdl } from '../../src/schema/ddl.js';
import { decodePath } from '../../src/schema/path.js';
import { batchFromRows, type Row } from '../../src/schema/rows-in.js';
import type { StructType } from '../../src/schema/types.js';
import { Pool } from '../../src/stage/pool.js';
import { stageRows } from '../../src/stage/stage.js';
import { MemoryStore } from '../../src/store/memory.js';
import { fakeContext } from '../support/fake-context.js';

interface StatsCase {
  readonly name: string;
  readonly schema: string;
  readonly partitionBy?: readonly string[];
  readonly skipping?: {
    readonly indexedColumns: number;
    readonly statsColumns?: readonly (readonly string[])[];
  };
  readonly rows: readonly Record<string, unknown>[];
  readonly files: readonly {
    readonly partitionValues?: Record<string, string | null>;
    /** JSON text, so that no digit is lost on the way. */
    readonly stats: string;
    /** A regular expression. */
    readonly path?: string;
    /** The columns of the Parquet file: name, physical type, repetition, logical type. */
    readonly columns?: readonly string[];
  }[];
}

const text = await readFile(new URL('../../spec/cases/stats/staged.json', import.meta.url), 'utf8');
const { cases } = JSON.parse(text) as { cases: StatsCase[] };
const pool = new Pool({ emit: () => {} }, { workers: 1 });
afterAll(() => pool.close());

/** What JSON has no number for is text in the cases. */
function rowOf(schema: StructType, row: Record<string, unknown>): Row {
  return Object.fromEntries(
    schema.fields.map(({ name, dataType: { type } }) => {
      const value = row[name];
      if (type === 'map' && value) return [name, new Map(Object.entries(value))];
      if (typeof value !== 'string') return [name, value];
      return [
        name,
        type === 'long' ? BigInt(value) : type === 'double' || type === 'float' ? Number(value) : value,
      ];
    }),
  );
}

function columnsOf(metadata: FileMetaData): string[] {
  return metadata.schema.slice(1).map((element) => {
    const logical = element.logical_type;
    const kind =
      logical?.type === 'TIMESTAMP'
        ? `TIMESTAMP(${logical.isAdjustedToUTC ? 'UTC' : 'local'},${logical.unit})`
        : (logical?.type ?? '');
    return [element.name, element.type ?? '-', element.repetition_type, kind].join(' ').trimEnd();
  });
}

describe('staged files', () => {
  test.each(cases.map((one) => [one.name, one] as const))('%s', async (_, one) => {
    const ctx = fakeContext();
    const store = new MemoryStore(ctx);
    const schema = parseDdl(one.schema);
    const batch = batchFromRows(
      one.rows.map((row) => rowOf(schema, row)),
      schema,
    );
    const files = await stageRows(store, ctx, pool, [batch], {
      schema,
      partitionColumns: one.partitionBy ?? [],
      stats: one.skipping,
    });
    expect(files.map(({ stats }) => stats)).toEqual(one.files.map(({ stats }) => stats));
    for (const [i, expected] of one.files.entries()) {
      expect(files[i]!.partitionValues).toEqual(expected.partitionValues ?? {});
      if (expected.path) expect(files[i]!.path).toMatch(new RegExp(expected.path));
      if (!expected.columns) continue;
      const bytes = await store.get(decodePath(files[i]!.path));
      expect(columnsOf(parquetMetadata(bytes.slice().buffer as ArrayBuffer))).toEqual(expected.columns);
    }
  });
});
