import { dateText, daysFromCivil, daysInMonth } from '../schema/calendar-text.js';

export const MICROS_PER_DAY = 86_400_000_000;
const MICROS_PER_DAY_BIG = 86_400_000_000n;
const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER);

/** The day that holds the instant, rounding towards the past. */
export function dayOfMicros(micros: bigint): number {
  if (micros <= MAX_SAFE && micros >= -MAX_SAFE) return Math.floor(Number(micros) / MICROS_PER_DAY);
  return Number(floorDiv(micros, MICROS_PER_DAY_BIG));
}

/** Microseconds since midnight, never negative. */
export function microsOfDay(micros: bigint): number {
  return Number(micros - BigInt(dayOfMicros(micros)) * MICROS_PER_DAY_BIG);
}

export function microsOfDate(days: number): bigint {
  return BigInt(days) * MICROS_PER_DAY_BIG;
}

export function floorDiv(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  return value % by < 0n ? quotient - 1n : quotient;
}

/** `2024-01-01 00:00:00.123456`, fraction without trailing zeros, as Spark casts timestamps to strings. */
export function formatTimestamp(micros: bigint): string {
  const rest = microsOfDay(micros);
  const fraction = rest % 1_000_000;
  const tail = fraction === 0 ? '' : `.${pad(fraction, 6).replace(/0+$/, '')}`;
  return `${dateText(dayOfMicros(micros))} ${formatClock(rest)}${tail}`;
}

function formatClock(micros: number): string {
  const seconds = Math.floor(micros / 1_000_000);
  return `${pad(Math.floor(seconds / 3600), 2)}:${pad(Math.floor(seconds / 60) % 60, 2)}:${pad(seconds % 60, 2)}`;
}

export function pad(value: number, width: number): string {
  return String(value).padStart(width, '0');
}

const DATE = /^([+-]?\d{4,7})(?:-(\d{1,2})(?:-(\d{1,2})(?:[T ].*)?)?)?$/s;
const TIMESTAMP =
  /^([+-]?\d{4,7})(?:-(\d{1,2})(?:-(\d{1,2})(?:[T ](\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d*))?)?\s*(.*))?)?)?$/s;
const ZONE = /^(?:(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2}))?(?::?(\d{2}))?|Z|UTC|GMT|UT)$/i;

/** Days from text as Spark's CAST AS DATE takes it: `2024`, `2024-01`, `2024-01-01`, and a time after that, which is dropped. */
export function parseDate(text: string): number | undefined {
  const match = DATE.exec(text.trim());
  return match === null ? undefined : dateOf(match[1], match[2], match[3]);
}

/**
 * Microseconds from text as Spark's CAST AS TIMESTAMP takes it, with the zone `Z`, `UTC`, `+01:00` or none, which is UTC here. Digits below a microsecond
 * are dropped. Zone names such as Europe/Berlin are not taken: undefined.
 */
export function parseTimestamp(text: string): bigint | undefined {
  const match = TIMESTAMP.exec(text.trim());
  if (match === null) return undefined;
  const days = dateOf(match[1], match[2], match[3]);
  if (days === undefined) return undefined;
  const hour = Number(match[4] ?? 0);
  const minute = Number(match[5] ?? 0);
  const second = Number(match[6] ?? 0);
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const fraction = Number((match[7] ?? '').padEnd(6, '0').slice(0, 6));
  const offset = offsetSeconds(match[8] ?? '');
  if (offset === undefined) return undefined;
  const seconds = hour * 3600 + minute * 60 + second - offset;
  return microsOfDate(days) + BigInt(seconds * 1_000_000 + fraction);
}

function dateOf(
  year: string | undefined,
  month: string | undefined,
  day: string | undefined,
): number | undefined {
  const y = Number(year);
  const m = Number(month ?? 1);
  const d = Number(day ?? 1);
  if (m < 1 || m > 12 || d < 1 || d > daysInMonth(y, m)) return undefined;
  return daysFromCivil(y, m, d);
}

function offsetSeconds(zone: string): number | undefined {
  if (zone === '') return 0;
  const match = ZONE.exec(zone);
  if (match === null) return undefined;
  if (match[1] === undefined) return 0;
  const hours = Number(match[2]);
  const minutes = Number(match[3] ?? 0);
  const seconds = Number(match[4] ?? 0);
  if (hours > 18 || minutes > 59 || seconds > 59) return undefined;
  return (match[1] === '-' ? -1 : 1) * (hours * 3600 + minutes * 60 + seconds);
}
