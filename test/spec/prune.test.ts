import { describe, expect, it } from 'vitest';
import files from '../../spec/cases/prune/files.json' with { type: 'json' };
import parquet from '../../spec/cases/prune/parquet.json' with { type: 'json' };
import type { AddAction } from '../../src/log/actions.js';
import type { Leaf } from '../../src/parquet/flat/footer.js';
import { bindPredicate } from '../../src/scan/bind.js';
import { classifyFiles, pruneFiles } from '../../src/scan/prune.js';
import { stateOfAdds } from '../../src/scan/prune-actions.js';
import { decodeBound } from '../../src/scan/prune-parquet-values.js';
import { parseDdl } from '../../src/schema/ddl.js';
import type { DataType, StructType } from '../../src/schema/types.js';

interface Case {
  readonly name: string;
  readonly schema: string;
  readonly partitionBy?: readonly string[];
  readonly physical?: Readonly<Record<string, string>>;
  readonly legacyTimestampZone?: string;
  readonly where: string;
  readonly files: readonly Pick<AddAction, 'partitionValues' | 'stats'>[];
  readonly kept: readonly boolean[];
  readonly all?: readonly boolean[];
}

function mapped(schema: StructType, names: Readonly<Record<string, string>>): StructType {
  const metadata = (name: string) => ({ 'delta.columnMapping.physicalName': names[name] ?? name });
  return {
    type: 'struct',
    fields: schema.fields.map((field) => ({ ...field, metadata: metadata(field.name) })),
  };
}

describe('prune: files', () => {
  it.each(files.cases as unknown as Case[])('$name ($must)', async (each) => {
    const schema =
      each.physical === undefined ? parseDdl(each.schema) : mapped(parseDdl(each.schema), each.physical);
    const state = stateOfAdds({
      metadata: {
        id: '0',
        format: { provider: 'parquet', options: {} },
        schemaString: '',
        partitionColumns: each.partitionBy ?? [],
        configuration: each.physical === undefined ? {} : { 'delta.columnMapping.mode': 'name' },
      },
      schema,
      adds: each.files,
    });
    const options =
      each.legacyTimestampZone === undefined ? {} : { legacyTimestampZone: each.legacyTimestampZone };
    const bound = bindPredicate(each.where, schema);
    const has = (ids: Int32Array) => each.files.map((_, id) => ids.includes(id));
    expect(has((await pruneFiles(state, bound, options)).ids)).toEqual(each.kept);
    const { all, none } = await classifyFiles(state, bound, options);
    expect(has(none)).toEqual(each.kept.map((kept) => !kept));
    if (each.all !== undefined) expect(has(all)).toEqual(each.all);
  });
});

interface BoundCase {
  readonly name: string;
  readonly type: string;
  readonly physical: Leaf['physical'];
  readonly meaning: Leaf['meaning'];
  readonly bytes: string;
  readonly legacy?: boolean;
  readonly min?: string;
  readonly max?: string;
}

describe('prune: statistics of Parquet files', () => {
  it.each(parquet.cases as unknown as BoundCase[])(
    '$name ($must)',
    ({ type, physical, meaning, bytes, legacy, min, max }) => {
      const delta = (type === 'decimal' ? { type, precision: 29, scale: 2 } : { type }) as DataType;
      const leaf: Leaf = {
        index: 0,
        path: ['c'],
        physical,
        width: 0,
        maxDefinition: 1,
        maxRepetition: 0,
        meaning,
      };
      const decoded = (bound: 'min' | 'max') => {
        const value = decodeBound(
          delta,
          leaf,
          Uint8Array.from(Buffer.from(bytes, 'hex')),
          bound,
          legacy === true,
        );
        return value === undefined ? undefined : String(value);
      };
      expect([decoded('min'), decoded('max')]).toEqual([min, max]);
    },
  );
});
