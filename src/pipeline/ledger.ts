import type { Span } from '../interval/calendar.js';
import { instantText } from '../interval/interval.js';
import { daysFromCivil, daysInMonth } from '../schema/calendar-text.js';
import type { State } from '../snapshot/state.js';

const PREFIX = 'intervale/1/';

/** What the table's log itself says of one interval: how many runs were committed, and when the last. */
export interface LedgerEntry extends Span {
  readonly attempt: number;
  /** Milliseconds since the Unix epoch; undefined where another writer left it out. */
  readonly lastUpdated: number | undefined;
}

/** The entries of one pipeline in the order of time. A column a fact: a year of minutes has half a million. */
export class Ledger implements Iterable<LedgerEntry> {
  readonly starts: Float64Array;
  readonly ends: Float64Array;
  readonly #attempts: Float64Array;
  /** NaN where there is none. */
  readonly #updated: Float64Array;

  /** In the order of time. */
  private constructor(
    starts: Float64Array,
    ends: Float64Array,
    attempts: Float64Array,
    updated: Float64Array,
  ) {
    this.starts = starts;
    this.ends = ends;
    this.#attempts = attempts;
    this.#updated = updated;
  }

  /** The four columns are in any one order. */
  static from(
    starts: readonly number[],
    ends: readonly number[],
    attempts: readonly number[],
    updated: readonly number[],
  ): Ledger {
    const order = sorted(starts, ends);
    const [a, b, c, d] = [starts, ends, attempts, updated].map((values) =>
      order ? Float64Array.from(order, (i) => values[i]!) : Float64Array.from(values),
    );
    return new Ledger(a!, b!, c!, d!);
  }

  static of(entries: readonly LedgerEntry[]): Ledger {
    return Ledger.from(
      entries.map(({ startMs }) => startMs),
      entries.map(({ endMs }) => endMs),
      entries.map(({ attempt }) => attempt),
      entries.map(({ lastUpdated }) => lastUpdated ?? Number.NaN),
    );
  }

  /** The entries at these positions, which rise. */
  pick(positions: Int32Array): Ledger {
    const [a, b, c, d] = [this.starts, this.ends, this.#attempts, this.#updated].map((values) =>
      Float64Array.from(positions, (at) => values[at]!),
    );
    return new Ledger(a!, b!, c!, d!);
  }

  get size(): number {
    return this.starts.length;
  }

  attempt(at: number): number {
    return this.#attempts[at]!;
  }

  entry(at: number): LedgerEntry {
    const updated = this.#updated[at]!;
    return {
      startMs: this.starts[at]!,
      endMs: this.ends[at]!,
      attempt: this.#attempts[at]!,
      lastUpdated: Number.isNaN(updated) ? undefined : updated,
    };
  }

  *[Symbol.iterator](): Generator<LedgerEntry, void, undefined> {
    for (let at = 0; at < this.size; at++) yield this.entry(at);
  }
}

/** For each of `wanted`, which is in the order of time like `spans`, its position in `spans`; -1 where it is not there. */
export function placesIn(
  spans: { readonly starts: ArrayLike<number>; readonly ends: ArrayLike<number> },
  wanted: { readonly starts: ArrayLike<number>; readonly ends: ArrayLike<number> },
): Int32Array {
  const { starts, ends } = spans;
  const places = new Int32Array(wanted.starts.length).fill(-1);
  let at = 0;
  for (let i = 0; i < places.length; i++) {
    const [start, end] = [wanted.starts[i]!, wanted.ends[i]!];
    while (at < starts.length && (starts[at]! < start || (starts[at] === start && ends[at]! < end))) at++;
    if (at < starts.length && starts[at] === start && ends[at] === end) places[i] = at;
  }
  return places;
}

/** Positions in the order of time, or undefined where that is the order given. */
export function sorted(starts: readonly number[], ends: readonly number[]): Int32Array | undefined {
  const before = (a: number, b: number): number => starts[a]! - starts[b]! || ends[a]! - ends[b]!;
  let isSorted = true;
  for (let i = 1; i < starts.length && isSorted; i++) isSorted = before(i - 1, i) <= 0;
  return isSorted ? undefined : Int32Array.from(starts, (_, i) => i).sort(before);
}

/** The `txn.appId` of a pipeline's interval. */
export function appIdOf(pipeline: string, { startMs, endMs }: Span): string {
  return `${PREFIX}${encodeName(pipeline)}/${instantText(startMs)}/${instantText(endMs)}`;
}

/** Pipeline and interval of an `appId`; undefined for one that is none of ours. */
export function parseAppId(appId: string): ({ readonly pipeline: string } & Span) | undefined {
  if (!appId.startsWith(PREFIX)) return undefined;
  const slash = appId.indexOf('/', PREFIX.length);
  if (slash < 0 || !isSpanAt(appId, slash + 1)) return undefined;
  const [startMs, endMs] = [instantAt(appId, slash + 1), instantAt(appId, slash + 2 + INSTANT_LENGTH)];
  try {
    return { pipeline: decodeURIComponent(appId.slice(PREFIX.length, slash)), startMs, endMs };
  } catch {
    return undefined;
  }
}

/** The entries of one pipeline. */
export function readLedger(state: Pick<State, 'txns'>, pipeline: string): Ledger {
  const prefix = `${PREFIX}${encodeName(pipeline)}/`;
  const at = prefix.length;
  const [starts, ends, attempts, updated]: number[][] = [[], [], [], []];
  for (const [appId, { version, lastUpdated }] of state.txns) {
    if (!appId.startsWith(prefix) || !isSpanAt(appId, at)) continue;
    starts!.push(instantAt(appId, at));
    ends!.push(instantAt(appId, at + INSTANT_LENGTH + 1));
    attempts!.push(Number(version));
    updated!.push(lastUpdated ?? Number.NaN);
  }
  return Ledger.from(starts!, ends!, attempts!, updated!);
}

/** The entry of one interval. */
export function entryOf(
  state: Pick<State, 'txns'>,
  pipeline: string,
  { startMs, endMs }: Span,
): LedgerEntry | undefined {
  const txn = state.txns.get(appIdOf(pipeline, { startMs, endMs }));
  return txn && { startMs, endMs, attempt: Number(txn.version), lastUpdated: txn.lastUpdated ?? undefined };
}

/** The number of committed runs of one interval. */
export function attemptOf(state: Pick<State, 'txns'>, pipeline: string, span: Span): number {
  return entryOf(state, pipeline, span)?.attempt ?? 0;
}

/** A name as one segment of a key or an `appId`: no slash, no dots alone. */
export function encodeName(name: string): string {
  return encodeURIComponent(name).replace(/[!'()*.~]/g, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
  });
}

/** `2024-01-05T00:00:00Z`. */
const INSTANT_LENGTH = 20;
const [SLASH, DASH, LETTER_T, COLON, LETTER_Z] = [47, 45, 84, 58, 90];

/** True when the rest of the text is two instants with a slash between them, the first before the second. */
function isSpanAt(text: string, at: number): boolean {
  if (text.length !== at + 2 * INSTANT_LENGTH + 1 || text.charCodeAt(at + INSTANT_LENGTH) !== SLASH)
    return false;
  return instantAt(text, at) < instantAt(text, at + INSTANT_LENGTH + 1);
}

/** Milliseconds of the instant in its one spelling; NaN for anything else. Ledgers have many, so that it goes without parts of the text. */
function instantAt(text: string, at: number): number {
  const isPunctuated =
    text.charCodeAt(at + 4) === DASH &&
    text.charCodeAt(at + 7) === DASH &&
    text.charCodeAt(at + 10) === LETTER_T &&
    text.charCodeAt(at + 13) === COLON &&
    text.charCodeAt(at + 16) === COLON &&
    text.charCodeAt(at + 19) === LETTER_Z;
  if (!isPunctuated) return Number.NaN;
  const year = twoDigits(text, at) * 100 + twoDigits(text, at + 2);
  const month = twoDigits(text, at + 5);
  const day = twoDigits(text, at + 8);
  const hour = twoDigits(text, at + 11);
  const minute = twoDigits(text, at + 14);
  const second = twoDigits(text, at + 17);
  const isDate = month >= 1 && month <= 12 && day >= 1 && (day <= 28 || day <= daysInMonth(year, month));
  if (!isDate || !(hour <= 23 && minute <= 59 && second <= 59)) return Number.NaN;
  return (daysFromCivil(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second) * 1000;
}

/** NaN where one of them is no digit. */
function twoDigits(text: string, at: number): number {
  const high = text.charCodeAt(at) - 48;
  const low = text.charCodeAt(at + 1) - 48;
  return high >= 0 && high <= 9 && low >= 0 && low <= 9 ? high * 10 + low : Number.NaN;
}
