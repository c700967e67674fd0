import { Temporal } from 'temporal-polyfill';

/** What an interval needs of the calendar that it was cut from. */
export interface IntervalText {
  readonly timeZone: string;
  label(startMs: number): string;
  local(ms: number): string;
  wall(startMs: number): Temporal.PlainDateTime;
}

/** The instants from `start` up to, not including, `end`: one of the intervals of a calendar. Immutable. */
export class Interval {
  /** Milliseconds since the Unix epoch. */
  readonly startMs: number;
  readonly endMs: number;
  readonly #text: IntervalText;

  /** Use `Calendar.at` or `parseInterval`. */
  constructor(startMs: number, endMs: number, text: IntervalText) {
    this.startMs = startMs;
    this.endMs = endMs;
    this.#text = text;
  }

  get start(): Temporal.Instant {
    return Temporal.Instant.fromEpochMilliseconds(this.startMs);
  }
  get end(): Temporal.Instant {
    return Temporal.Instant.fromEpochMilliseconds(this.endMs);
  }
  get timeZone(): string {
    return this.#text.timeZone;
  }
  /** Names the interval within its calendar. Labels sort as text in the order of time and parse back: `2024-01-05`, `2024-01`, `2024-11-03T06:00Z`. */
  get label(): string {
    return this.#text.label(this.startMs);
  }
  /** The start as the zone's clocks show it, with its offset: `2024-11-03T01:00-05:00`. */
  get local(): string {
    return this.#text.local(this.startMs);
  }
  /** The wall clock at the start, as a zone-less column holds it. Where the zone skips midnight it is midnight all the same. */
  get wallStart(): Temporal.PlainDateTime {
    return this.#text.wall(this.startMs);
  }
  /** The wall clock at which the next interval starts. */
  get wallEnd(): Temporal.PlainDateTime {
    return this.#text.wall(this.endMs);
  }
  /** The local date at the start. */
  get date(): Temporal.PlainDate {
    return this.wallStart.toPlainDate();
  }
  /** Milliseconds. */
  get duration(): number {
    return this.endMs - this.startMs;
  }

  /** True when the instant, in milliseconds, lies inside. */
  contains(ms: number): boolean {
    return ms >= this.startMs && ms < this.endMs;
  }

  equals(other: { readonly startMs: number; readonly endMs: number }): boolean {
    return this.startMs === other.startMs && this.endMs === other.endMs;
  }

  toString(): string {
    return this.label;
  }

  toJSON(): { label: string; start: string; end: string } {
    return { label: this.label, start: instantText(this.startMs), end: instantText(this.endMs) };
  }
}

/** `2024-01-05T00:00:00Z`: the one spelling of an instant in ledgers and notes. */
export function instantText(ms: number): string {
  // Ledgers have many: this is some ten times as fast as Temporal, and the same for whole seconds.
  if (ms % 1000 === 0) return `${new Date(ms).toISOString().slice(0, -5)}Z`;
  return Temporal.Instant.fromEpochMilliseconds(ms).toString();
}
