import { decodeUtf8 } from '../parquet/flat/byte-text.js';
import { bytesAt, type FlatColumn } from '../parquet/flat/column.js';

/** What the text of a value is for: a token of statistics JSON, or a partition value. They differ in quotes, and in how timestamps are spelled. */
export type TextUse = 'json' | 'partition';

/**
 * The text of the value at a place of a typed column, as the log's JSON would have it (protocol: Per-file Statistics, Partition Value Serialization).
 * Undefined for values that have no such text: binary, NaN and the infinities in JSON, unknown types.
 */
export function typedText(column: FlatColumn, place: number, use: TextUse): string | undefined {
  const { meaning, physical } = column.leaf;
  const { values } = column;
  if (meaning.kind === 'decimal') {
    const unscaled = integerAt(column, place) ?? bigEndian(bytesAt(column, place));
    return unscaled === undefined ? undefined : decimalText(unscaled, meaning.scale);
  }
  switch (values.kind) {
    case 'boolean':
      return values.values[place] === 1 ? 'true' : 'false';
    case 'int32':
      return meaning.kind === 'date'
        ? quoted(dateText(values.values[place] as number), use)
        : String(values.values[place]);
    case 'int64': {
      const value = values.values[place] as bigint;
      if (meaning.kind !== 'timestamp') return String(value);
      const micros =
        meaning.unit === 'millis' ? value * 1000n : meaning.unit === 'nanos' ? floorDiv(value, 1000n) : value;
      return quoted(timestampText(micros, meaning.utc), use);
    }
    case 'float':
    case 'double': {
      const value = values.values[place] as number;
      if (!Number.isFinite(value))
        return use === 'json'
          ? undefined
          : Number.isNaN(value)
            ? 'NaN'
            : value > 0
              ? 'Infinity'
              : '-Infinity';
      return Object.is(value, -0) ? '-0.0' : values.kind === 'float' ? shortFloat(value) : String(value);
    }
    case 'bytes':
    case 'codes': {
      const bytes = bytesAt(column, place);
      if (
        bytes === undefined ||
        physical !== 'BYTE_ARRAY' ||
        (meaning.kind !== 'string' && meaning.kind !== 'json')
      )
        return undefined;
      const text = decodeUtf8(bytes, 0, bytes.length);
      return use === 'json' ? JSON.stringify(text) : text;
    }
    case 'fixed': {
      const bytes = bytesAt(column, place);
      if (physical !== 'INT96' || bytes === undefined) return undefined;
      return quoted(timestampText(int96Micros(bytes), true), use);
    }
  }
}

function quoted(text: string, use: TextUse): string {
  return use === 'json' ? `"${text}"` : text;
}

function integerAt(column: FlatColumn, place: number): bigint | undefined {
  if (column.values.kind === 'int32') return BigInt(column.values.values[place] as number);
  return column.values.kind === 'int64' ? column.values.values[place] : undefined;
}

function bigEndian(bytes: Uint8Array | undefined): bigint | undefined {
  if (bytes === undefined || bytes.length === 0 || bytes.length > 32) return undefined;
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return BigInt.asIntN(bytes.length * 8, value);
}

function decimalText(unscaled: bigint, scale: number): string {
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  const text = scale > 0 ? `${whole}.${digits.slice(digits.length - scale)}` : whole;
  return unscaled < 0n ? `-${text}` : text;
}

function floorDiv(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  return value % by < 0n ? quotient - 1n : quotient;
}

/** Days since 1970-01-01 as proleptic Gregorian `YYYY-MM-DD`; years outside 0000-9999 with a sign and at least five digits. */
export function dateText(days: number): string {
  // The civil calendar from day counts, in eras of 400 years that start on March 1st.
  const shifted = days + 719468;
  const era = Math.floor(shifted / 146097);
  const dayOfEra = shifted - era * 146097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36524) - Math.floor(dayOfEra / 146096)) /
      365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1;
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return `${yearText(year)}-${pad(month, 2)}-${pad(day, 2)}`;
}

function yearText(year: number): string {
  if (year >= 0 && year <= 9999) return pad(year, 4);
  return year < 0 ? `-${pad(-year, 4)}` : `+${pad(year, 5)}`;
}

function pad(value: number, width: number): string {
  return String(value).padStart(width, '0');
}

const DAY = 86_400_000_000n;

/** Microseconds since the epoch in ISO form with six digits, ending in `Z` where `utc`. */
export function timestampText(micros: bigint, utc: boolean): string {
  const days = floorDiv(micros, DAY);
  const rest = Number(micros - days * DAY);
  const seconds = Math.floor(rest / 1_000_000);
  const time = `${pad(Math.floor(seconds / 3600), 2)}:${pad(Math.floor(seconds / 60) % 60, 2)}:${pad(seconds % 60, 2)}`;
  return `${dateText(Number(days))}T${time}.${pad(rest % 1_000_000, 6)}${utc ? 'Z' : ''}`;
}

/** INT96: nanoseconds of the day, then the Julian day. */
function int96Micros(bytes: Uint8Array): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, 12);
  const days = BigInt(view.getInt32(8, true)) - 2_440_588n;
  return days * DAY + floorDiv(view.getBigInt64(0, true), 1000n);
}

/** The fewest digits that read back as the same 32-bit float. */
function shortFloat(value: number): string {
  for (let digits = 1; digits < 9; digits++) {
    const text = value.toPrecision(digits);
    if (Math.fround(Number(text)) === value) return String(Number(text));
  }
  return String(Number(value.toPrecision(9)));
}
