import { T, type ThriftStruct, writeThrift } from '../../encode-thrift.js';
import type { WrittenChunk } from './leaf-writer.js';
import { field, physicalOf, schemaElements, type WriteLeaf, type WriteNode } from './schema.js';

/** A row group with its chunks in the order of the schema's leaves. */
export interface WrittenGroup {
  readonly rows: number;
  readonly chunks: readonly WrittenChunk[];
  readonly codecs: readonly number[];
}

const MAGIC = Buffer.from('PAR1', 'latin1');

/** The bytes of a Parquet file, piece by piece, and their number. */
export function assembleFile(
  nodes: readonly WriteNode[],
  leaves: readonly WriteLeaf[],
  groups: readonly WrittenGroup[],
  createdBy: string,
): { pieces: Uint8Array[]; length: number } {
  const pieces: Uint8Array[] = [MAGIC];
  let at = MAGIC.length;
  let rows = 0;
  const rowGroups: ThriftStruct[] = [];
  for (const group of groups) {
    const columns: ThriftStruct[] = [];
    let size = 0;
    group.chunks.forEach((chunk, index) => {
      columns.push(columnChunk(chunk, leaves[index] as WriteLeaf, group.codecs[index] as number, at));
      pieces.push(...chunk.pages);
      at += chunk.length;
      size += chunk.uncompressed;
    });
    rows += group.rows;
    rowGroups.push(
      new Map([
        [1, field(T.LIST, { type: T.STRUCT, items: columns })],
        [2, field(T.I64, size)],
        [3, field(T.I64, group.rows)],
      ]),
    );
  }
  const footer = writeThrift(
    new Map([
      [1, field(T.I32, 1)],
      [2, field(T.LIST, { type: T.STRUCT, items: schemaElements(nodes) })],
      [3, field(T.I64, rows)],
      [4, field(T.LIST, { type: T.STRUCT, items: rowGroups })],
      [6, field(T.BINARY, Buffer.from(createdBy, 'utf8'))],
    ]),
  );
  const length = Buffer.alloc(4);
  length.writeUInt32LE(footer.length);
  pieces.push(footer, length, MAGIC);
  return { pieces, length: at + footer.length + 8 };
}

function columnChunk(chunk: WrittenChunk, leaf: WriteLeaf, codec: number, start: number): ThriftStruct {
  const meta: ThriftStruct = new Map([
    [1, field(T.I32, physicalOf(leaf.type))],
    [2, field(T.LIST, { type: T.I32, items: [...chunk.encodings] })],
    [3, field(T.LIST, { type: T.BINARY, items: leaf.path.map((name) => Buffer.from(name, 'utf8')) })],
    [4, field(T.I32, codec)],
    [5, field(T.I64, chunk.values)],
    [6, field(T.I64, chunk.uncompressed)],
    [7, field(T.I64, chunk.length)],
    [9, field(T.I64, start + chunk.dictionaryLength)],
  ]);
  if (chunk.dictionaryLength > 0) meta.set(11, field(T.I64, start));
  if (chunk.statistics) meta.set(12, field(T.STRUCT, chunk.statistics));
  return new Map([
    [2, field(T.I64, start)],
    [3, field(T.STRUCT, meta)],
  ]);
}
