import { type FlatColumn, textAt } from '../parquet/flat/column.js';
import type { Interner } from '../parquet/flat/interner.js';
import type { PartitionValues } from './partition-values.js';

/** A dense column seen from the adds of its row group: where the value of add number i is, or -1. Undefined places stand for "at i". */
export interface Aligned {
  readonly column: FlatColumn;
  readonly places: Int32Array | undefined;
}

export function placeOf(aligned: Aligned, add: number): number {
  return aligned.places === undefined ? add : (aligned.places[add] as number);
}

/** Aligns a column without repetition with the adds, which are the entries where `path` is present. */
export function align(column: FlatColumn, path: FlatColumn): Aligned {
  if (column.present === path.present && column.leaf.maxRepetition === 0)
    return { column, places: undefined };
  const places = new Int32Array(path.present).fill(-1);
  const isAdd = path.definition;
  const pathLevel = path.leaf.maxDefinition;
  const level = column.leaf.maxDefinition;
  let add = 0;
  let place = 0;
  for (let row = 0; row < path.entries; row++) {
    const here = column.definition === undefined || column.definition[row] === level;
    if (isAdd === undefined || isAdd[row] === pathLevel) places[add++] = here ? place : -1;
    if (here) place++;
  }
  return { column, places };
}

/** Calls `onEntry` for each entry of a map that belongs to an add; places of null values are -1. Keys are never null. */
export function eachMapEntry(
  keys: FlatColumn,
  values: FlatColumn,
  path: FlatColumn,
  onEntry: (add: number, keyPlace: number, valuePlace: number) => void,
): void {
  const isAdd = path.definition;
  const pathLevel = path.leaf.maxDefinition;
  const keyLevel = keys.leaf.maxDefinition;
  const valueLevel = values.leaf.maxDefinition;
  let row = -1;
  let add = -1;
  let counts = false;
  let keyPlace = 0;
  let valuePlace = 0;
  for (let entry = 0; entry < keys.entries; entry++) {
    if (keys.repetition === undefined || keys.repetition[entry] === 0) {
      row++;
      counts = isAdd === undefined || isAdd[row] === pathLevel;
      if (counts) add++;
    }
    const hasKey = keys.definition === undefined || keys.definition[entry] === keyLevel;
    const hasValue = values.definition === undefined || values.definition[entry] === valueLevel;
    if (hasKey && counts) onEntry(add, keyPlace, hasValue ? valuePlace : -1);
    if (hasKey) keyPlace++;
    if (hasValue) valuePlace++;
  }
}

/** The partition values of a row group as codes by column number, from the map's keys and values. */
export function partitionCodes(
  keys: FlatColumn,
  values: FlatColumn,
  path: FlatColumn,
  partitions: PartitionValues,
): (Int32Array | undefined)[] {
  const columns: (Int32Array | undefined)[] = [];
  const columnOf = memoColumns(keys, partitions);
  const codeOf = memoCodes(values, partitions);
  eachMapEntry(keys, values, path, (add, keyPlace, valuePlace) => {
    const number = columnOf(keyPlace);
    let codes = columns[number];
    if (codes === undefined) {
      codes = new Int32Array(path.present);
      columns[number] = codes;
    }
    codes[add] = valuePlace < 0 ? 0 : codeOf(number, valuePlace);
  });
  return columns;
}

function memoColumns(keys: FlatColumn, partitions: PartitionValues): (place: number) => number {
  const of = (slab: Uint8Array, start: number, length: number): number =>
    partitions.column(slab, start, length);
  const { values } = keys;
  if (values.kind === 'codes') {
    const known = new Int32Array(values.dictionary.starts.length).fill(-1);
    return (place) => {
      const code = values.codes[place] as number;
      let number = known[code] as number;
      if (number < 0) {
        number = of(
          values.dictionary.slab,
          values.dictionary.starts[code] as number,
          values.dictionary.lengths[code] as number,
        );
        known[code] = number;
      }
      return number;
    };
  }
  if (values.kind === 'bytes')
    return (place) => of(values.slab, values.starts[place] as number, values.lengths[place] as number);
  return () => 0;
}

function memoCodes(
  column: FlatColumn,
  partitions: PartitionValues,
): (number: number, place: number) => number {
  const { values } = column;
  if (values.kind === 'codes') {
    const { dictionary } = values;
    const known: Int32Array[] = [];
    return (number, place) => {
      let memo = known[number];
      if (memo === undefined) {
        memo = new Int32Array(dictionary.starts.length).fill(-1);
        known[number] = memo;
      }
      const code = values.codes[place] as number;
      let own = memo[code] as number;
      if (own < 0) {
        own = (partitions.interners[number] as Interner).intern(
          dictionary.slab,
          dictionary.starts[code] as number,
          dictionary.lengths[code] as number,
        );
        memo[code] = own;
      }
      return own;
    };
  }
  if (values.kind === 'bytes') {
    return (number, place) =>
      (partitions.interners[number] as Interner).intern(
        values.slab,
        values.starts[place] as number,
        values.lengths[place] as number,
      );
  }
  return () => 0;
}

/** The maps of a row group as objects by add; adds whose map is null or empty are not among them. */
export function textMaps(
  keys: FlatColumn,
  values: FlatColumn,
  path: FlatColumn,
): Map<number, [string, string | null][]> {
  const maps = new Map<number, [string, string | null][]>();
  eachMapEntry(keys, values, path, (add, keyPlace, valuePlace) => {
    const entry: [string, string | null] = [
      textAt(keys, keyPlace) ?? '',
      valuePlace < 0 ? null : (textAt(values, valuePlace) ?? null),
    ];
    const known = maps.get(add);
    if (known === undefined) maps.set(add, [entry]);
    else known.push(entry);
  });
  return maps;
}
