import { type DataType as ArrowType, Data, type Struct } from 'apache-arrow';
import { CellFault, describeValue, Refusal } from './cell-fault.js';
import { buildColumn, type ColumnSpec, each } from './column-builder.js';
import { typeText } from './type-text.js';
import type { ArrayType, MapType, StructType } from './types.js';

/** The two byte strings of a variant, as a struct. */
export const VARIANT: StructType = {
  type: 'struct',
  fields: ['value', 'metadata'].map((name) => ({
    name,
    dataType: { type: 'binary' },
    nullable: false,
    metadata: {},
  })),
};

/** Structs from plain objects; a variant from its two byte strings. */
export function buildStruct(values: readonly unknown[], spec: ColumnSpec, arrowType: ArrowType): Data {
  const struct = spec.type.type === 'struct' ? spec.type : VARIANT;
  const objects = new Array<object | null>(values.length).fill(null);
  const validity = each(values, spec, (i, value) => {
    if (!isRecord(value)) throw new Refusal(typeText(spec.type));
    objects[i] = value;
  });
  const children = buildFields(objects, struct, validity.bitmap);
  return new Data(
    arrowType as Struct,
    0,
    values.length,
    validity.nulls,
    [undefined, undefined, validity.bitmap],
    children,
  );
}

/** The columns of a struct from its objects; null objects give NULL everywhere. Throws `CellFault` with `UNKNOWN_COLUMN` for members that are no field. */
export function buildFields(
  objects: readonly (object | null)[],
  struct: StructType,
  parents: Uint8Array | undefined,
): Data[] {
  const named = withFieldNames(objects, struct);
  return struct.fields.map((field) => {
    const { name } = field;
    // Only own members count where Object.prototype has one of that name.
    const inherited = name in Object.prototype;
    const column = new Array<unknown>(named.length);
    for (let i = 0; i < named.length; i++) {
      const object = named[i] as Record<string, unknown> | null | undefined;
      column[i] =
        object === null || object === undefined || (inherited && !Object.hasOwn(object, name))
          ? null
          : object[name];
    }
    try {
      return buildColumn(column, { type: field.dataType, nullable: field.nullable, parents });
    } catch (error) {
      throw error instanceof CellFault ? error.within(error.index, name) : error;
    }
  });
}

/** The objects with members named as the fields are: Delta's names ignore case. The very objects where that is so already. */
function withFieldNames(objects: readonly (object | null)[], struct: StructType): readonly (object | null)[] {
  const names = new Set(struct.fields.map((field) => field.name));
  let lower: Map<string, string> | undefined;
  let renamed: (object | null)[] | undefined;
  for (let i = 0; i < objects.length; i++) {
    const object = objects[i];
    if (object === null || object === undefined) continue;
    let plain = true;
    for (const key in object) {
      if (!names.has(key) && Object.hasOwn(object, key)) {
        plain = false;
        break;
      }
    }
    if (plain) continue;
    lower ??= new Map(struct.fields.map((field) => [field.name.toLowerCase(), field.name]));
    renamed ??= objects.slice();
    renamed[i] = rename(object as Record<string, unknown>, names, lower, i);
  }
  return renamed ?? objects;
}

function rename(
  object: Record<string, unknown>,
  names: ReadonlySet<string>,
  lower: ReadonlyMap<string, string>,
  index: number,
): object {
  const copy: Record<string, unknown> = Object.create(null);
  for (const key of Object.keys(object)) {
    const name = names.has(key) ? key : lower.get(key.toLowerCase());
    if (name === undefined) {
      throw new CellFault({
        index,
        path: [key],
        expected: `one of ${[...names].join(', ')}`,
        got: describeValue(object[key]),
        hint: `The columns are ${[...names].slice(0, 20).join(', ')}${names.size > 20 ? ', ...' : ''}.`,
        code: 'UNKNOWN_COLUMN',
      });
    }
    if (name in copy) {
      throw new CellFault({
        index,
        path: [key],
        expected: 'one value',
        got: `two members that are both column '${name}'`,
      });
    }
    copy[name] = object[key];
  }
  return copy;
}

/** True for what may be a row or a struct: an object that is not another kind of value. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value) || value instanceof Date || value instanceof Map || value instanceof Set)
    return false;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return false;
  const tag: unknown = Reflect.get(value, Symbol.toStringTag);
  return typeof tag !== 'string' || !tag.startsWith('Temporal.');
}

/** Lists from arrays and typed arrays. */
export function buildArray(
  values: readonly unknown[],
  spec: ColumnSpec,
  arrowType: ArrowType,
  type: ArrayType,
): Data {
  const offsets = new Int32Array(values.length + 1);
  const elements: unknown[] = [];
  let filled = 0;
  const validity = each(values, spec, (i, value) => {
    if (!Array.isArray(value) && !isTypedArray(value)) throw new Refusal(typeText(type), 'Give an array.');
    offsets.fill(elements.length, filled + 1, i + 1);
    for (let k = 0; k < value.length; k++) elements.push(value[k]);
    offsets[i + 1] = elements.length;
    filled = i + 1;
  });
  offsets.fill(elements.length, filled + 1);
  const child = inside(
    offsets,
    (k) => [k],
    () => buildColumn(elements, { type: type.elementType, nullable: type.containsNull }),
  );
  return new Data(
    arrowType,
    0,
    values.length,
    validity.nulls,
    [offsets, undefined, validity.bitmap] as never,
    [child],
  );
}

function isTypedArray(value: unknown): value is ArrayLike<unknown> {
  return ArrayBuffer.isView(value) && !(value instanceof DataView);
}

/** Maps from Map, arrays of pairs, and plain objects where keys are strings. */
export function buildMap(
  values: readonly unknown[],
  spec: ColumnSpec,
  arrowType: ArrowType,
  type: MapType,
): Data {
  const offsets = new Int32Array(values.length + 1);
  const keys: unknown[] = [];
  const items: unknown[] = [];
  let filled = 0;
  const validity = each(values, spec, (i, value) => {
    const entries = entriesOf(value, type);
    offsets.fill(keys.length, filled + 1, i + 1);
    const start = keys.length;
    for (const entry of entries) {
      if (!Array.isArray(entry) || entry.length !== 2)
        throw new Refusal(typeText(type), 'Each entry is a pair of key and value.');
      keys.push(entry[0]);
      items.push(entry[1]);
    }
    refuseDuplicates(keys, start, type);
    offsets[i + 1] = keys.length;
    filled = i + 1;
  });
  offsets.fill(keys.length, filled + 1);
  const keyData = inside(
    offsets,
    (k) => [k, 'key'],
    () => buildColumn(keys, { type: type.keyType, nullable: false }),
  );
  const itemData = inside(
    offsets,
    (k) => [k, 'value'],
    () => buildColumn(items, { type: type.valueType, nullable: type.valueContainsNull }),
  );
  const entriesType = arrowType.children[0]!.type as Struct;
  const entries = new Data(
    entriesType,
    0,
    keys.length,
    0,
    [undefined, undefined, undefined],
    [keyData, itemData],
  );
  return new Data(
    arrowType,
    0,
    values.length,
    validity.nulls,
    [offsets, undefined, validity.bitmap] as never,
    [entries],
  );
}

function entriesOf(value: unknown, type: MapType): Iterable<unknown> {
  if (value instanceof Map || Array.isArray(value)) return value;
  if (!isRecord(value)) throw new Refusal(typeText(type), 'Give a Map or an array of pairs.');
  if (type.keyType.type !== 'string')
    throw new Refusal(typeText(type), 'An object has string keys alone; give a Map or an array of pairs.');
  return Object.entries(value);
}

function refuseDuplicates(keys: readonly unknown[], start: number, type: MapType): void {
  if (['struct', 'array', 'map', 'variant'].includes(type.keyType.type)) return;
  const seen = new Set<unknown>();
  for (let k = start; k < keys.length; k++) {
    const key = keys[k];
    const one =
      typeof key === 'bigint' || typeof key === 'number'
        ? String(key)
        : key instanceof Date
          ? key.getTime()
          : typeof key === 'object'
            ? String(key)
            : key;
    if (seen.has(one)) throw new Refusal(typeText(type), `The key ${describeValue(key)} comes twice.`);
    seen.add(one);
  }
}

/** Runs what builds the elements of lists; a fault there is told by the row that holds the element. */
function inside(
  offsets: Int32Array,
  steps: (k: number) => readonly (string | number)[],
  build: () => Data,
): Data {
  try {
    return build();
  } catch (error) {
    if (!(error instanceof CellFault)) throw error;
    let row = 0;
    while (offsets[row + 1]! <= error.index) row++;
    throw error.within(row, ...steps(error.index - offsets[row]!));
  }
}
