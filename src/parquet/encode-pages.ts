import { compareBytes } from '../schema/value.js';
import { footerBounds, type TextBounds, textBounds } from './encode-bounds.js';
import { bitAt, type Column } from './encode-columns.js';
import { CHUNK, FILE, footerOf, GROUP, structs } from './encode-join.js';
import { readThrift, T, type ThriftStruct, type ThriftValue, writeThrift } from './encode-thrift.js';

/** Field ids of Parquet's page indexes (parquet-format, parquet.thrift). */
const OFFSET_INDEX = { pages: 1 } as const;
const PAGE = { firstRow: 3 } as const;
const COLUMN_INDEX = { nullPages: 1, mins: 2, maxes: 3, order: 4, nullCounts: 5 } as const;
const ORDER = { none: 0, ascending: 1, descending: 2 } as const;

/** For each leaf of a file of one row group the first row of each of its pages; none of a file without rows. */
export function firstRowsOf(bytes: Uint8Array): (readonly number[])[] {
  const group = structs(footerOf({ size: bytes.length, tail: bytes }), FILE.groups)[0];
  return (group ? structs(group, GROUP.columns) : []).map((chunk) => {
    const at = chunk.get(CHUNK.offsetIndex)?.value;
    if (at === undefined) return [0];
    const { struct } = readThrift(bytes, Number(at));
    return structs(struct, OFFSET_INDEX.pages).map((page) => Number(page.get(PAGE.firstRow)?.value ?? 0));
  });
}

/** What is known of a column of strings by its pages. */
export interface TextPages {
  /** Of the whole column; undefined where every row is NULL. */
  readonly bounds: TextBounds | undefined;
  /** Parquet's `ColumnIndex`, where there are several pages and each has bounds that can be written. */
  readonly index: Uint8Array | undefined;
}

/** The bounds of a column of strings whose pages begin at `firstRows`, and the index that says so of each page. */
export function textPages(column: Column, firstRows: readonly number[]): TextPages {
  const pages = firstRows.map((from, i) => {
    const to = firstRows[i + 1] ?? column.length;
    return { bounds: textBounds(column, undefined, from, to), nulls: nullsIn(column, from, to) };
  });
  const bounds = pages.reduce<TextBounds | undefined>((all, page) => united(all, page.bounds), undefined);
  return { bounds, index: pages.length < 2 ? undefined : columnIndex(pages) };
}

function nullsIn({ valid, bit }: Column, from: number, to: number): number {
  if (!valid) return 0;
  let nulls = 0;
  for (let row = from; row < to; row++) if (!bitAt(valid, bit + row)) nulls++;
  return nulls;
}

function united(a: TextBounds | undefined, b: TextBounds | undefined): TextBounds | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return {
    min: compareBytes(a.min, b.min) <= 0 ? a.min : b.min,
    max: compareBytes(a.max, b.max) >= 0 ? a.max : b.max,
  };
}

function columnIndex(
  pages: readonly { readonly bounds: TextBounds | undefined; readonly nulls: number }[],
): Uint8Array | undefined {
  const bounds = pages.map((page) => page.bounds && footerBounds(page.bounds));
  if (bounds.some((each) => each !== undefined && each.max === undefined)) return undefined;
  const given = bounds.filter((each) => each !== undefined);
  const isOrdered = (sign: number): boolean =>
    given.every(
      ({ min, max }, i) =>
        i === 0 ||
        (compareBytes(min, given[i - 1]!.min) * sign >= 0 &&
          compareBytes(max!, given[i - 1]!.max!) * sign >= 0),
    );
  const none = new Uint8Array(0);
  const order = isOrdered(1) ? ORDER.ascending : isOrdered(-1) ? ORDER.descending : ORDER.none;
  const index: ThriftStruct = new Map();
  const list = (id: number, type: number, items: ThriftValue[]) =>
    index.set(id, { type: T.LIST, value: { type, items } });
  list(
    COLUMN_INDEX.nullPages,
    T.TRUE,
    bounds.map((each) => each === undefined),
  );
  list(
    COLUMN_INDEX.mins,
    T.BINARY,
    bounds.map((each) => each?.min ?? none),
  );
  list(
    COLUMN_INDEX.maxes,
    T.BINARY,
    bounds.map((each) => each?.max ?? none),
  );
  index.set(COLUMN_INDEX.order, { type: T.I32, value: order });
  list(
    COLUMN_INDEX.nullCounts,
    T.I64,
    pages.map(({ nulls }) => nulls),
  );
  return writeThrift(index);
}
