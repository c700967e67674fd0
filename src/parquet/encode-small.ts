import { columnId } from '../schema/mapping.js';
import type { DataType, Datum, StructType } from '../schema/types.js';
import { compareDatum } from '../schema/value.js';
import { concatBytes } from './concat.js';
import { CREATED_BY, type EncodedRowGroup } from './encode.js';
import { footerBounds, textBounds } from './encode-bounds.js';
import type { Column } from './encode-columns.js';
import { footerStatistics, type PartStatistics } from './encode-join.js';
import { datumAt, plainBytes } from './encode-value.js';
import { CODEC } from './flat/codec.js';
import { assembleFile } from './flat/write/file.js';
import { LeafWriter } from './flat/write/leaf-writer.js';
import { type LeafType, leavesOf, type WriteNode } from './flat/write/schema.js';

/** Up to so many rows this is quicker than the way to the engine and back. */
const SMALL_ROWS = 256;

/** Pages of fewer rows are not worth compressing. */
const COMPRESSED_ROWS = 32;

const LEAVES: Readonly<Record<string, LeafType>> = {
  string: { kind: 'string' },
  long: { kind: 'int64' },
  integer: { kind: 'int32' },
  short: { kind: 'int', bits: 16 },
  byte: { kind: 'int', bits: 8 },
  float: { kind: 'float' },
  double: { kind: 'double' },
  boolean: { kind: 'boolean' },
  binary: { kind: 'binary' },
  date: { kind: 'date' },
  timestamp: { kind: 'timestamp', utc: true },
  timestamp_ntz: { kind: 'timestamp', utc: false },
};

/** True for rows so few, of columns without columns inside, that `encodeSmall` writes them. */
export function isSmall(struct: StructType, rows: number): boolean {
  return rows <= SMALL_ROWS && struct.fields.every(({ dataType }) => leafType(dataType) !== undefined);
}

/** The same file that the engine would write of these rows (its values plain, its pages without an index), at once and in this thread. */
export async function encodeSmall(
  struct: StructType,
  columns: readonly Column[],
  rows: number,
): Promise<EncodedRowGroup> {
  const nodes = struct.fields.map((field): WriteNode => {
    const type = leafType(field.dataType)!;
    return { kind: 'leaf', name: field.name, type, required: !field.nullable, fieldId: columnId(field) };
  });
  const leaves = leavesOf(nodes);
  const codec = rows < COMPRESSED_ROWS ? CODEC.uncompressed : CODEC.snappy;
  const texts = columns.map((column, i) =>
    struct.fields[i]!.dataType.type === 'string' ? textBounds(column) : undefined,
  );
  const chunks = await Promise.all(
    columns.map(async (column, i) => {
      const { dataType, nullable } = struct.fields[i]!;
      const writer = new LeafWriter({ maxDefinition: nullable ? 1 : 0, maxRepetition: 0, codec });
      const values = Array.from({ length: rows }, (_, row) => datumAt(dataType, column, row));
      for (const value of values) {
        writer.entry(0, nullable && value !== null ? 1 : 0);
        if (value !== null) append(writer, dataType, value);
      }
      const bounds = texts[i] ? footerBounds(texts[i]) : numberBounds(dataType, values);
      return { ...(await writer.finish()), statistics: footerStatistics({ nulls: column.nulls, bounds }) };
    }),
  );
  const groups = rows === 0 ? [] : [{ rows, chunks, codecs: chunks.map(() => codec) }];
  const { pieces } = assembleFile(nodes, leaves, groups, CREATED_BY);
  return { bytes: concatBytes(pieces), columns, texts };
}

function leafType(type: DataType): LeafType | undefined {
  return type.type === 'decimal'
    ? { kind: 'decimal', precision: type.precision, scale: type.scale }
    : LEAVES[type.type];
}

function append(writer: LeafWriter, type: DataType, value: Exclude<Datum, null>): void {
  switch (type.type) {
    case 'string':
      writer.text(value as string);
      return;
    case 'binary':
      writer.bytes(value as Uint8Array, 0, (value as Uint8Array).length);
      return;
    case 'boolean':
      writer.boolean(value as boolean);
      return;
    case 'float':
      writer.float(value as number);
      return;
    case 'double':
      writer.double(value as number);
      return;
    case 'decimal':
      writer.decimal(value as bigint, type.precision);
      return;
    case 'long':
    case 'timestamp':
    case 'timestamp_ntz':
      writer.int64(value as bigint);
      return;
    default:
      writer.int32(value as number);
  }
}

/** Bounds as PLAIN values. NaN is left out, and a zero has the sign that bounds both zeros. */
function numberBounds(type: DataType, values: readonly Datum[]): PartStatistics['bounds'] {
  if (type.type === 'binary' || type.type === 'boolean' || type.type === 'string') return undefined;
  // Readers may take bounds for those of NaN too, which they leave out.
  if (values.some((value) => Number.isNaN(value))) return undefined;
  let min: Datum = null;
  let max: Datum = null;
  for (const value of values) {
    if (value === null) continue;
    if (min === null || compareDatum(type, value, min) < 0) min = value;
    if (max === null || compareDatum(type, value, max) > 0) max = value;
  }
  if (min === null || max === null) return undefined;
  const least = min === 0 && (type.type === 'float' || type.type === 'double') ? -0 : min;
  const greatest = max === 0 ? 0 : max;
  return {
    min: plainBytes(type, least as number | bigint),
    minExact: true,
    max: plainBytes(type, greatest as number | bigint),
    maxExact: true,
  };
}
