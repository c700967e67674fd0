import { type DataType as ArrowType, Data, type Field, type Struct, Vector } from 'apache-arrow';
import {
  ARROW,
  type ArrowDataLike,
  type ArrowTypeLike,
  arrowTypeText,
  isValid,
  nullsIn,
} from './arrow-shape.js';
import { firstNull, nullBits, type Parents } from './cast-bits.js';
import { castBytes, gather } from './cast-bytes.js';
import { castFixed, zoneFits } from './cast-number.js';
import { CellFault } from './cell-fault.js';
import { buildColumn } from './column-builder.js';
import { VARIANT } from './nested-builder.js';
import { typeText } from './type-text.js';
import type { ArrayType, DataType, MapType, StructType } from './types.js';

export interface CastOptions {
  /** What an Arrow timestamp without a zone means for a `timestamp` column: refused, or taken as UTC. */
  readonly naive: 'refuse' | 'utc';
}

/** `index` of faults that concern a whole column. */
export const WHOLE_COLUMN = -1;

/**
 * One Arrow column in exactly the Arrow type of a Delta type: the same object where it is that already, the same memory where only names or flags differ,
 * else rewritten, every value exactly. NULL where `nullable` is false and the parent is not NULL is refused. Throws `CellFault`.
 */
export function castColumn(
  data: ArrowDataLike,
  target: { readonly type: DataType; readonly arrow: ArrowType; readonly nullable: boolean },
  options: CastOptions,
  parents?: Parents,
): Data {
  const cast = convert(data, target.type, target.arrow, options, parents);
  if (!target.nullable) {
    const i = firstNull(cast as unknown as ArrowDataLike, parents);
    if (i >= 0) throw new CellFault({ index: i, expected: `${typeText(target.type)} not null`, got: 'NULL' });
  }
  return cast;
}

function convert(
  data: ArrowDataLike,
  type: DataType,
  arrow: ArrowType,
  options: CastOptions,
  parents?: Parents,
): Data {
  if (data.type.typeId === ARROW.null) return nullColumn(data.length, type);
  if (data.type.typeId === ARROW.dictionary) return fromDictionary(data, type, arrow, options);
  const cast = nestedCast(data, type, arrow, options, parents) ?? plainCast(data, type, arrow, options);
  if (cast !== undefined) return cast;
  const hint =
    data.type.typeId === ARROW.timestamp &&
    (type.type === 'timestamp' || type.type === 'timestamp_ntz') &&
    !zoneFits(data.type, type.type, options.naive)
      ? 'An instant (with a zone) and a wall clock (without) are different things; convert one before.'
      : undefined;
  throw new CellFault({
    index: WHOLE_COLUMN,
    expected: typeText(type),
    got: `Arrow ${arrowTypeText(data.type)}`,
    hint,
  });
}

function plainCast(
  data: ArrowDataLike,
  type: DataType,
  arrow: ArrowType,
  options: CastOptions,
): Data | undefined {
  if (samePlain(data.type, arrow, type, options)) return sameMemory(data, arrow);
  switch (type.type) {
    case 'string':
    case 'binary':
      return castBytes(data, type.type, arrow);
    case 'void':
      return nullsIn(data) === data.length ? nullColumn(data.length, type) : undefined;
    default:
      return castFixed(data, type, arrow, options.naive);
  }
}

/** True when the memory of a column is laid out as the target's is and every value of it is one of the target's. */
function samePlain(
  source: ArrowTypeLike,
  arrow: ArrowTypeLike,
  type: DataType,
  options: CastOptions,
): boolean {
  if (source.typeId !== arrow.typeId) return false;
  switch (type.type) {
    case 'byte':
    case 'short':
    case 'integer':
    case 'long':
      return source.bitWidth === arrow.bitWidth && source.isSigned !== false;
    case 'float':
    case 'double':
      return source.precision === arrow.precision;
    case 'decimal':
      return (
        (source.bitWidth ?? 128) === 128 &&
        source.scale === type.scale &&
        (source.precision ?? 39) <= type.precision
      );
    case 'date':
      return source.unit === arrow.unit;
    case 'timestamp':
    case 'timestamp_ntz':
      return source.unit === arrow.unit && zoneFits(source, type.type, options.naive);
    default:
      return true;
  }
}

function sameMemory(data: ArrowDataLike, arrow: ArrowType, children: Data[] = []): Data {
  if (data instanceof Data && data.type === arrow && sameChildren(data, children)) return data;
  return new Data(
    arrow,
    data.offset,
    data.length,
    nullsIn(data),
    [data.valueOffsets ?? undefined, data.values ?? undefined, data.nullBitmap ?? undefined] as never,
    children,
  );
}

function sameChildren(data: Data, children: readonly Data[]): boolean {
  return children.length === data.children.length && children.every((child, i) => child === data.children[i]);
}

/** A column of nothing but NULL. */
export function nullColumn(length: number, type: DataType): Data {
  return buildColumn(new Array<null>(length).fill(null), { type, nullable: true });
}

function fromDictionary(data: ArrowDataLike, type: DataType, arrow: ArrowType, options: CastOptions): Data {
  const chunks = data.dictionary?.data ?? [];
  const parts = chunks.map((chunk) => convert(chunk, type, arrow, options));
  const values =
    parts.length === 1 ? parts[0] : parts.length === 0 ? nullColumn(0, type) : joined(parts, arrow);
  const cast = values === undefined ? undefined : gather(data, values, arrow);
  if (cast !== undefined) return cast;
  throw new CellFault({
    index: WHOLE_COLUMN,
    expected: typeText(type),
    got: `Arrow ${arrowTypeText(data.type)}`,
    hint: 'Give the values without a dictionary.',
  });
}

/** One column from the chunks of a dictionary; strings and binary alone come in several in practice. */
function joined(parts: readonly Data[], arrow: ArrowType): Data | undefined {
  const whole = new Vector([...parts]);
  if (arrow.typeId !== ARROW.utf8 && arrow.typeId !== ARROW.binary) return undefined;
  const values = Array.from({ length: whole.length }, (_, i) => whole.get(i) as unknown);
  return buildColumn(values, {
    type: { type: arrow.typeId === ARROW.utf8 ? 'string' : 'binary' },
    nullable: true,
  });
}

function nestedCast(
  data: ArrowDataLike,
  type: DataType,
  arrow: ArrowType,
  options: CastOptions,
  parents: Parents | undefined,
): Data | undefined {
  switch (type.type) {
    case 'struct':
      return data.type.typeId === ARROW.struct ? castStruct(data, type, arrow, options, parents) : undefined;
    case 'variant':
      return data.type.typeId === ARROW.struct
        ? castStruct(data, VARIANT, arrow, options, parents)
        : undefined;
    case 'array':
      return castList(data, type, arrow, options);
    case 'map':
      return data.type.typeId === ARROW.map ? castMap(data, type, arrow, options) : undefined;
    default:
      return undefined;
  }
}

function castStruct(
  data: ArrowDataLike,
  type: StructType,
  arrow: ArrowType,
  options: CastOptions,
  parents: Parents | undefined,
): Data {
  const children = castFields(data, type, arrow.children as Field[], options, { data, up: parents });
  return sameMemory(data, arrow as Struct, children);
}

/** The children of a struct or batch in the order of the table's fields, found by name ignoring case. */
export function castFields(
  data: ArrowDataLike,
  type: StructType,
  fields: readonly Field[],
  options: CastOptions,
  parents: Parents | undefined,
): Data[] {
  const places = placeFields(data.type.children ?? [], type);
  return type.fields.map((field, i) => {
    const child = data.children[places[i]!];
    const target = { type: field.dataType, arrow: fields[i]!.type as ArrowType, nullable: field.nullable };
    try {
      if (child !== undefined) return castColumn(child, target, options, parents);
      return castColumn(
        nullColumn(data.length, field.dataType) as unknown as ArrowDataLike,
        target,
        options,
        parents,
      );
    } catch (error) {
      throw error instanceof CellFault ? error.within(error.index, field.name) : error;
    }
  });
}

/** Where each field of the table stands among those given; -1 for one that is absent. */
function placeFields(given: readonly { readonly name: string }[], type: StructType): number[] {
  const places = new Array<number>(type.fields.length).fill(-1);
  const exact = new Map(type.fields.map((field, i) => [field.name, i]));
  let lower: Map<string, number> | undefined;
  given.forEach(({ name }, position) => {
    lower ??= exact.has(name)
      ? undefined
      : new Map(type.fields.map((field, i) => [field.name.toLowerCase(), i]));
    const place = exact.get(name) ?? lower?.get(name.toLowerCase());
    if (place === undefined) {
      const names = type.fields.map((field) => field.name);
      throw new CellFault({
        index: WHOLE_COLUMN,
        path: [name],
        expected: `one of ${names.join(', ')}`,
        got: `'${name}'`,
        hint: `The columns are ${names.slice(0, 20).join(', ')}${names.length > 20 ? ', ...' : ''}.`,
        code: 'UNKNOWN_COLUMN',
      });
    }
    if (places[place] !== -1) {
      throw new CellFault({
        index: WHOLE_COLUMN,
        path: [name],
        expected: 'one column',
        got: `two that are both '${type.fields[place]!.name}'`,
      });
    }
    places[place] = position;
  });
  return places;
}

const LISTS: ReadonlySet<number> = new Set([ARROW.list, ARROW.largeList, ARROW.fixedSizeList]);

function castList(
  data: ArrowDataLike,
  type: ArrayType,
  arrow: ArrowType,
  options: CastOptions,
): Data | undefined {
  if (!LISTS.has(data.type.typeId)) return undefined;
  const { offsets, child } = elementsOf(data);
  const target = {
    type: type.elementType,
    arrow: arrow.children[0]!.type as ArrowType,
    nullable: type.containsNull,
  };
  const element = inRow(
    offsets,
    (k) => [k],
    () => castColumn(child, target, options, liveElements(data, offsets)),
  );
  return listLike(data, arrow, offsets, element);
}

function castMap(data: ArrowDataLike, type: MapType, arrow: ArrowType, options: CastOptions): Data {
  const { offsets, child } = elementsOf(data);
  const [keys, values] = child.children;
  const live = liveElements(data, offsets);
  const entries = arrow.children[0]!.type as Struct;
  const field = (i: number): ArrowType => entries.children[i]!.type as ArrowType;
  const key = inRow(
    offsets,
    (k) => [k, 'key'],
    () => castColumn(keys!, { type: type.keyType, arrow: field(0), nullable: false }, options, live),
  );
  const value = inRow(
    offsets,
    (k) => [k, 'value'],
    () =>
      castColumn(
        values!,
        { type: type.valueType, arrow: field(1), nullable: type.valueContainsNull },
        options,
        live,
      ),
  );
  return listLike(data, arrow, offsets, sameMemory(child, entries, [key, value]));
}

function listLike(data: ArrowDataLike, arrow: ArrowType, offsets: Int32Array, child: Data): Data {
  if (offsets === data.valueOffsets && data.type.typeId === arrow.typeId)
    return sameMemory(data, arrow, [child]);
  const { bitmap, nulls } = nullBits(data);
  return new Data(arrow, 0, data.length, nulls, [offsets, undefined, bitmap] as never, [child]);
}

/** Offsets that start at 0 and the elements they count, sharing memory. What lies below NULL rows stays. */
function elementsOf(data: ArrowDataLike): { offsets: Int32Array; child: ArrowDataLike } {
  const child = data.children[0]!;
  const given = data.valueOffsets;
  const rows = data.length;
  if (data.type.typeId === ARROW.fixedSizeList) {
    const size = data.type.listSize ?? 0;
    return {
      offsets: Int32Array.from({ length: rows + 1 }, (_, i) => i * size),
      child: sliced(child, 0, rows * size),
    };
  }
  if (given === undefined || given === null || given.length === 0)
    return { offsets: new Int32Array(rows + 1), child: sliced(child, 0, 0) };
  const first = Number(given[0]);
  const last = Number(given[rows]);
  if (given instanceof Int32Array && first === 0) {
    return {
      offsets: given.length === rows + 1 ? given : given.subarray(0, rows + 1),
      child: sliced(child, 0, last),
    };
  }
  return {
    offsets: Int32Array.from({ length: rows + 1 }, (_, i) => Number(given[i]) - first),
    child: sliced(child, first, last - first),
  };
}

function sliced(child: ArrowDataLike, from: number, length: number): ArrowDataLike {
  if (from === 0 && length === child.length) return child;
  return (child as unknown as Data).slice(from, length) as unknown as ArrowDataLike;
}

/** Which elements belong to rows that are not NULL, in the form `firstNull` asks; undefined where all do. */
function liveElements(data: ArrowDataLike, offsets: Int32Array): Parents | undefined {
  if (nullsIn(data) === 0) return undefined;
  const length = offsets[data.length]!;
  const nullBitmap = new Uint8Array((length + 7) >> 3);
  for (let i = 0; i < data.length; i++) {
    if (!isValid(data, i)) continue;
    for (let k = offsets[i]!; k < offsets[i + 1]!; k++) nullBitmap[k >> 3]! |= 1 << (k & 7);
  }
  return {
    data: { type: data.type, length, offset: 0, nullCount: 1, nullBitmap, children: [] },
    up: undefined,
  };
}

/** Runs what casts the elements of lists; a fault in one is told by the row that holds it. */
function inRow(
  offsets: Int32Array,
  steps: (k: number) => readonly (string | number)[],
  cast: () => Data,
): Data {
  try {
    return cast();
  } catch (error) {
    if (!(error instanceof CellFault)) throw error;
    if (error.index === WHOLE_COLUMN)
      throw error.within(
        WHOLE_COLUMN,
        ...steps(0)
          .map((step) => (typeof step === 'number' ? 'element' : step))
          .slice(-1),
      );
    let row = 0;
    while (offsets[row + 1]! <= error.index) row++;
    throw error.within(row, ...steps(error.index - offsets[row]!));
  }
}
