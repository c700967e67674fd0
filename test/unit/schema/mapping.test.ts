import { describe, expect, it } from 'vitest';
import { parseDdl } from '../../../src/schema/ddl.js';
import {
  assignColumnMapping,
  columnId,
  columnMappingMode,
  findColumn,
  leafColumns,
  physicalName,
  physicalSchema,
} from '../../../src/schema/mapping.js';
import type { StructField } from '../../../src/schema/types.js';

const schema = parseDdl('BATCH_ID string, s struct<x:int,`a.b`:array<struct<y:long>>>, `a.b` int');
let count = 0;
const mapped = assignColumnMapping(schema, () => `u${++count}`);

describe('column mapping', () => {
  it('gives every field at every level an id and a name, once', () => {
    expect(mapped.maxId).toBe(6);
    const physical = physicalSchema(mapped.schema, 'name');
    expect(physical.fields.map((field) => [field.name, columnId(field)])).toEqual([
      ['col-u1', 1],
      ['col-u2', 2],
      ['col-u6', 6],
    ]);
    expect(physical.fields[1]!.dataType).toMatchObject({
      fields: [
        { name: 'col-u3' },
        { name: 'col-u4', dataType: { elementType: { fields: [{ name: 'col-u5' }] } } },
      ],
    });
    expect(assignColumnMapping(mapped.schema, () => 'never')).toEqual(mapped);
    const wider = { ...mapped.schema, fields: [...mapped.schema.fields, ...parseDdl('n int').fields] };
    expect(columnId(assignColumnMapping(wider, () => 'new', 9).schema.fields[3]!)).toBe(10);
  });

  it('counts only where the protocol supports it', () => {
    const metadata = { configuration: { 'delta.columnMapping.mode': 'name' } };
    expect(columnMappingMode(metadata)).toBe('name');
    expect(columnMappingMode(metadata, { minReaderVersion: 1, minWriterVersion: 2 })).toBe('none');
    expect(columnMappingMode(metadata, { minReaderVersion: 2, minWriterVersion: 5 })).toBe('name');
    expect(
      columnMappingMode(metadata, {
        minReaderVersion: 3,
        minWriterVersion: 7,
        readerFeatures: [],
        writerFeatures: [],
      }),
    ).toBe('none');
    expect(
      columnMappingMode(metadata, {
        minReaderVersion: 3,
        minWriterVersion: 7,
        readerFeatures: ['columnMapping'],
        writerFeatures: ['columnMapping'],
      }),
    ).toBe('name');
    expect(columnMappingMode({ configuration: {} })).toBe('none');
  });

  it('finds columns by path, ignoring case, a dot in a name being no path', () => {
    expect(findColumn(mapped.schema, ['batch_id'], 'name')).toMatchObject({
      logical: ['BATCH_ID'],
      physical: ['col-u1'],
    });
    expect(findColumn(mapped.schema, ['S', 'X'], 'name')).toMatchObject({
      logical: ['s', 'x'],
      physical: ['col-u2', 'col-u3'],
    });
    expect(findColumn(mapped.schema, ['a.b'])).toMatchObject({ physical: ['a.b'] });
    expect(findColumn(mapped.schema, ['a', 'b'])).toBeUndefined();
    expect(findColumn(mapped.schema, ['BATCH_ID', 'x'])).toBeUndefined();
    expect(leafColumns(mapped.schema, 'name').map((leaf) => leaf.physical.join('/'))).toEqual([
      'col-u1',
      'col-u2/col-u3',
      'col-u2/col-u4',
      'col-u6',
    ]);
    expect(physicalSchema(mapped.schema, 'name').fields[0]!.name).toBe('col-u1');
  });

  it('does not take a name from the prototype for a physical one', () => {
    const field: StructField = { name: 'a', dataType: { type: 'string' }, nullable: true, metadata: {} };
    expect(physicalName(field, 'name')).toBe('a');
    expect(physicalSchema({ type: 'struct', fields: [field] }, 'none').fields[0]).toBe(field);
  });
});
