import type { Row } from './rows-in.js';

/** What a cell of each type may be given as; the same that `batchFromRows` takes. */
interface Cells {
  string: string;
  text: string;
  varchar: string;
  char: string;
  long: bigint | number;
  bigint: bigint | number;
  int: number | bigint;
  integer: number | bigint;
  short: number | bigint;
  smallint: number | bigint;
  byte: number | bigint;
  tinyint: number | bigint;
  float: number;
  real: number;
  double: number;
  boolean: boolean;
  bool: boolean;
  binary: Uint8Array;
  date: DateLike | Date | string;
  timestamp: InstantLike | Date | string | bigint;
  timestamp_ltz: InstantLike | Date | string | bigint;
  timestamp_ntz: DateTimeLike | string | bigint;
  decimal: string | number | bigint;
  dec: string | number | bigint;
  numeric: string | number | bigint;
  void: null;
}

/** `Temporal.PlainDate`, by its shape. */
interface DateLike {
  readonly calendarId: string;
  readonly year: number;
  readonly month: number;
  readonly day: number;
}
/** `Temporal.PlainDateTime`. */
interface DateTimeLike extends DateLike {
  readonly hour: number;
  readonly microsecond: number;
}
/** `Temporal.Instant` and `Temporal.ZonedDateTime`. */
interface InstantLike {
  readonly epochNanoseconds: bigint;
}

/**
 * The rows of a schema that is written out as DDL text: `RowOf<'id long not null, day date'>` is `{ id: bigint | number; day?: ... | null }`. Values of nested
 * columns are not looked into. Any `Row` where the text is not known to the compiler or has quotes in it.
 */
export type RowOf<S> = S extends string
  ? string extends S
    ? Row
    : S extends `${string}'${string}`
      ? Row
      : Shown<NotNull<Columns<OneLine<S>>> & Nullable<Columns<OneLine<S>>>>
  : Row;

type NotNull<C extends string> = { [K in C as IsRequired<K> extends true ? NameOf<K> : never]: CellOf<K> };
type Nullable<C extends string> = {
  [K in C as IsRequired<K> extends true ? never : NameOf<K>]?: CellOf<K> | null;
};
type Shown<T> = { [K in keyof T]: T[K] };

/** The columns of a list, as texts. Commas inside of brackets separate none. */
type Columns<S extends string, Before extends string = ''> = S extends `${infer Head},${infer Tail}`
  ? IsClosed<`${Before}${Head}`> extends true
    ? Trim<`${Before}${Head}`> | Columns<Tail>
    : Columns<Tail, `${Before}${Head},`>
  : Trim<`${Before}${S}`>;

type IsClosed<S extends string> = [Count<S, '<'>, Count<S, '('>] extends [Count<S, '>'>, Count<S, ')'>]
  ? true
  : false;
type Count<
  S extends string,
  Mark extends string,
  Found extends 0[] = [],
> = S extends `${string}${Mark}${infer Rest}` ? Count<Rest, Mark, [...Found, 0]> : Found['length'];

type OneLine<S extends string> = S extends `${infer A}\n${infer B}` ? OneLine<`${A} ${B}`> : S;
type Trim<S extends string> = S extends ` ${infer Rest}` | `${infer Rest} ` ? Trim<Rest> : S;

type NameOf<C extends string> = C extends `\`${infer Name}\` ${string}`
  ? Name
  : C extends `${infer Name} ${string}`
    ? Name
    : never;
type RestOf<C extends string> = C extends `\`${string}\` ${infer Rest}`
  ? Lowercase<Trim<Rest>>
  : C extends `${string} ${infer Rest}`
    ? Lowercase<Trim<Rest>>
    : never;
type WordOf<Rest extends string> = Rest extends `${infer Word} ${string}` ? BareOf<Word> : BareOf<Rest>;
type BareOf<Word extends string> = Word extends `${infer Name}(${string}` ? Name : Word;
type CellOf<C extends string> =
  RestOf<C> extends `${string}<${string}`
    ? object
    : WordOf<RestOf<C>> extends keyof Cells
      ? Cells[WordOf<RestOf<C>>]
      : unknown;
/** Of nested columns what stands behind the last bracket counts. */
type IsRequired<C extends string> =
  RestOf<C> extends `${string}<${string}`
    ? RestOf<C> extends `${string}> not null${string}`
      ? true
      : false
    : RestOf<C> extends `${string} not null${string}`
      ? true
      : false;
