import type { DataSkipping } from '../log/properties.js';
import type { EncodedRowGroup } from '../parquet/encode.js';
import { hasNaN, type TextBounds, textBounds } from '../parquet/encode-bounds.js';
import { bitAt, type Column } from '../parquet/encode-columns.js';
import { footerOf, structs } from '../parquet/encode-join.js';
import { isStored } from '../parquet/encode-schema.js';
import type { ThriftStruct } from '../parquet/encode-thrift.js';
import { plainDatum } from '../parquet/encode-value.js';
import { leafColumns, type MappingMode } from '../schema/mapping.js';
import type { DataType, Datum, StructType } from '../schema/types.js';
import { compareDatum, datumToStatJson } from '../schema/value.js';

/** A column that files have statistics of. */
export interface StatisticsColumn {
  /** Physical names from the root. */
  readonly path: readonly string[];
  readonly type: DataType;
  /** Where it is among the columns of a file: the top-level column, then the child at each level. */
  readonly at: readonly number[];
  /** Which Parquet leaf holds its values; -1 for types whose order means nothing to readers. */
  readonly leaf: number;
}

/** What a file, or a part of one, says of one column. Without bounds: `bounded` false where there are values that must not be bounded (NaN). */
export interface ColumnStatistics {
  readonly nulls: number;
  readonly bounded: boolean;
  readonly min: Datum;
  readonly max: Datum;
}

const DEFAULT_INDEXED = 32;

/** Types whose least and greatest value readers may skip files by. */
const BOUNDED: ReadonlySet<string> = new Set([
  'byte',
  'short',
  'integer',
  'long',
  'float',
  'double',
  'decimal',
  'string',
  'date',
  'timestamp',
  'timestamp_ntz',
]);

/**
 * Which columns of the files of this schema (without partition columns) get statistics: those named by `delta.dataSkippingStatsColumns` with all below them,
 * else the first leaves by `delta.dataSkippingNumIndexedCols`; and those of `always`. Arrays, maps, binary and boolean columns count their NULLs alone.
 */
export function planStatistics(
  schema: StructType,
  mode: MappingMode,
  skipping?: DataSkipping,
): StatisticsColumn[] {
  const leaves = leafColumns(schema, mode);
  const named = skipping?.statsColumns?.map((path) => path.map((name) => name.toLowerCase()));
  const indexed = skipping?.indexedColumns ?? DEFAULT_INDEXED;
  const always = new Set(skipping?.always?.map(keyOf));
  const chosen = leaves.filter(
    ({ logical, physical }, i) =>
      always.has(keyOf(physical)) ||
      (named
        ? named.some((path) => path.every((name, at) => logical[at]?.toLowerCase() === name))
        : indexed < 0 || i < indexed),
  );
  const places = placesOf(schema);
  return chosen
    .filter(({ field }) => isStored(field.dataType))
    .map(({ field, logical, physical }) => {
      const place = places.get(keyOf(logical))!;
      return {
        path: physical,
        type: field.dataType,
        at: place.at,
        leaf: BOUNDED.has(field.dataType.type) ? place.leaf : -1,
      };
    });
}

function keyOf(path: readonly string[]): string {
  return JSON.stringify(path);
}

/** Where each leaf of the schema stands in its files. */
function placesOf(schema: StructType): Map<string, { at: number[]; leaf: number }> {
  const places = new Map<string, { at: number[]; leaf: number }>();
  let leaf = 0;
  const walk = (struct: StructType, path: readonly string[], at: readonly number[]): void => {
    let index = 0;
    struct.fields.forEach((field) => {
      if (!isStored(field.dataType)) return;
      const here = { path: [...path, field.name], at: [...at, index++] };
      if (field.dataType.type === 'struct') {
        walk(field.dataType, here.path, here.at);
        return;
      }
      places.set(keyOf(here.path), { at: here.at, leaf });
      leaf += leavesIn(field.dataType);
    });
  };
  walk(schema, [], []);
  return places;
}

function leavesIn(type: DataType): number {
  switch (type.type) {
    case 'struct':
      return type.fields.reduce(
        (sum, field) => sum + (isStored(field.dataType) ? leavesIn(field.dataType) : 0),
        0,
      );
    case 'array':
      return leavesIn(type.elementType);
    case 'map':
      return leavesIn(type.keyType) + leavesIn(type.valueType);
    default:
      return type.type === 'variant' ? 2 : 1;
  }
}

/** The statistics of a row group: bounds of numbers from its footer, what footers do not tell from the columns. */
export function collectStatistics(
  plan: readonly StatisticsColumn[],
  { bytes, columns, texts }: EncodedRowGroup,
): ColumnStatistics[] {
  const group = structs(footerOf({ size: bytes.length, tail: bytes }), 4)[0];
  const chunks = group ? structs(group, 1) : [];
  return plan.map(({ type, at, leaf }) => {
    const path = [columns[at[0]!]!];
    for (const child of at.slice(1)) path.push(path.at(-1)!.children[child]!);
    const column = path.at(-1)!;
    const nulls = nullsAlong(path);
    const none = { nulls, bounded: false, min: null, max: null };
    if (leaf < 0 || (isFloating(type) && hasNaN(column, type.type === 'double'))) return none;
    if (nulls === column.length) return { ...none, bounded: true };
    const found =
      type.type === 'string'
        ? ((at.length === 1 ? texts[at[0]!] : undefined) ?? textBounds(column, isNullAbove(path)))
        : footerBounds(chunks[leaf]);
    if (!found) return none;
    return { nulls, bounded: true, min: plainDatum(type, found.min), max: plainDatum(type, found.max) };
  });
}

function footerBounds(chunk: ThriftStruct | undefined): TextBounds | undefined {
  const meta = chunk?.get(3)?.value as ThriftStruct | undefined;
  const footer = meta?.get(12)?.value as ThriftStruct | undefined;
  const min = footer?.get(6)?.value;
  const max = footer?.get(5)?.value;
  return min instanceof Uint8Array && max instanceof Uint8Array ? { min, max } : undefined;
}

/** Says of a row whether a column that holds the last one of the path is NULL there. */
function isNullAbove(path: readonly Column[]): ((row: number) => boolean) | undefined {
  const partly = path.slice(0, -1).filter((column) => column.valid);
  if (partly.length === 0) return undefined;
  return (row) => partly.some((column) => !bitAt(column.valid!, column.bit + row));
}

/** Statistics of parts of a file as those of the whole. */
export function mergeStatistics(
  plan: readonly StatisticsColumn[],
  parts: readonly (readonly ColumnStatistics[])[],
): readonly ColumnStatistics[] {
  return parts.reduce((a, b) =>
    a.map((left, i) => {
      const right = b[i]!;
      const pick = (x: Datum, y: Datum, sign: number): Datum =>
        x === null ? y : y === null || compareDatum(plan[i]!.type, x, y) * sign <= 0 ? x : y;
      return {
        nulls: left.nulls + right.nulls,
        bounded: left.bounded && right.bounded,
        min: pick(left.min, right.min, 1),
        max: pick(left.max, right.max, -1),
      };
    }),
  );
}

/** The `stats` of an add action (protocol: Per-file Statistics): strict JSON, columns nested as in the schema, by physical name. */
export function statisticsJson(
  plan: readonly StatisticsColumn[],
  rows: number,
  columns: readonly ColumnStatistics[],
): string {
  const min = new Tree();
  const max = new Tree();
  const nulls = new Tree();
  plan.forEach(({ path, type }, i) => {
    const { bounded, ...column } = columns[i]!;
    nulls.set(path, String(column.nulls));
    if (!bounded) return;
    min.set(path, datumToStatJson(type, column.min, 'min'));
    max.set(path, datumToStatJson(type, column.max, 'max'));
  });
  return `{"numRecords":${rows},"minValues":${min.json()},"maxValues":${max.json()},"nullCount":${nulls.json()}}`;
}

/** JSON of nested objects from tokens that must stay as they are. Names are any text, `__proto__` too. */
class Tree {
  readonly #members = new Map<string, string | Tree>();

  set(path: readonly string[], token: string | undefined): void {
    if (token === undefined) return;
    const [name, ...rest] = path as [string, ...string[]];
    if (rest.length === 0) {
      this.#members.set(name, token);
      return;
    }
    let child = this.#members.get(name);
    if (!(child instanceof Tree)) {
      child = new Tree();
      this.#members.set(name, child);
    }
    child.set(rest, token);
  }

  json(): string {
    const members = [...this.#members].map(([name, value]) => {
      return `${JSON.stringify(name)}:${typeof value === 'string' ? value : value.json()}`;
    });
    return `{${members.join(',')}}`;
  }
}

/** Rows in which the last column of the path, or one that holds it, is NULL. */
function nullsAlong(path: readonly Column[]): number {
  const partly = path.filter((column) => column.nulls > 0);
  if (partly.length <= 1) return partly[0]?.nulls ?? 0;
  const rows = path[0]!.length;
  let nulls = 0;
  for (let row = 0; row < rows; row++) {
    if (partly.some((column) => !column.valid || !bitAt(column.valid, column.bit + row))) nulls++;
  }
  return nulls;
}

function isFloating(type: DataType): boolean {
  return type.type === 'float' || type.type === 'double';
}
