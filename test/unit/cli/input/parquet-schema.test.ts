import { describe, expect, test } from 'vitest';
import { schemaOfParquet, withSmallUnsigned } from '../../../../src/cli/input/parquet-schema.js';
import type { Leaf, Meaning, Physical, SchemaNode } from '../../../../src/parquet/flat/footer.js';
import { printDdl } from '../../../../src/schema/ddl.js';

type Part = Partial<Pick<SchemaNode, 'repetition' | 'group' | 'children'>>;

function node(name: string, part: Part, leaf?: [Physical, Meaning]): SchemaNode {
  const made: Leaf | undefined = leaf && {
    index: 0,
    path: [name],
    physical: leaf[0],
    width: 0,
    maxDefinition: 0,
    maxRepetition: 0,
    meaning: leaf[1],
  };
  return {
    name,
    repetition: 'optional',
    definition: 0,
    repetitionLevel: 0,
    children: [],
    group: 'plain',
    fieldId: undefined,
    leaf: made,
    ...part,
  };
}

const leaf = (name: string, physical: Physical, meaning: Meaning = { kind: 'none' }, part: Part = {}) =>
  node(name, part, [physical, meaning]);
const ddl = (...children: SchemaNode[]) =>
  printDdl(schemaOfParquet(withSmallUnsigned(node('root', { children })), 'f.parquet'));

describe('the schema of a Parquet file', () => {
  test('primitive types, physical and logical', () => {
    expect(
      ddl(
        leaf('a', 'INT64', { kind: 'none' }, { repetition: 'required' }),
        leaf('b', 'INT32', { kind: 'integer', bits: 8, signed: true }),
        leaf('c', 'INT96'),
        leaf('d', 'FIXED_LEN_BYTE_ARRAY', { kind: 'decimal', precision: 20, scale: 2 }),
        leaf('e', 'INT64', { kind: 'timestamp', unit: 'nanos', utc: false }),
        leaf('f', 'BYTE_ARRAY'),
        leaf('g', 'INT32', { kind: 'integer', bits: 16, signed: false }),
      ),
    ).toBe('a bigint not null, b tinyint, c timestamp, d decimal(20,2), e timestamp_ntz, f binary, g int');
  });

  test('lists of three and of two levels, maps, structs, repeated fields', () => {
    const text = (name: string, part?: Part) => leaf(name, 'BYTE_ARRAY', { kind: 'string' }, part);
    const list = node('list', { repetition: 'repeated', children: [text('element')] });
    const entries = node('key_value', {
      repetition: 'repeated',
      children: [text('key', { repetition: 'required' }), leaf('value', 'INT64')],
    });
    expect(
      ddl(
        node('three', { group: 'list', children: [list] }),
        node('two', {
          group: 'list',
          children: [leaf('array', 'INT32', { kind: 'none' }, { repetition: 'repeated' })],
        }),
        node('map', { group: 'map', children: [entries] }),
        node('struct', { children: [leaf('x', 'BOOLEAN')] }),
        leaf('plain', 'DOUBLE', { kind: 'none' }, { repetition: 'repeated' }),
      ),
    ).toMatch(
      /^three array<string>, two array<int.*>, map map<string, bigint>, struct struct<x: boolean>, plain array<double/,
    );
  });

  test.each<[string, Physical, Meaning]>([
    ['an unsigned integer of 32 bits', 'INT32', { kind: 'integer', bits: 32, signed: false }],
    ['that Delta has no type for', 'FIXED_LEN_BYTE_ARRAY', { kind: 'uuid' }],
  ])('%s is refused by name', (words, physical, meaning) => {
    expect(() => ddl(leaf('col', physical, meaning))).toThrow(
      new RegExp(`f\\.parquet: column 'col'.*${words}`),
    );
  });
});
