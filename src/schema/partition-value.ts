import { Temporal } from 'temporal-polyfill';
import { TableError } from '../errors.js';
import {
  dateText,
  instantMicros,
  parseDateText,
  parseTimestampText,
  timestampText,
} from './calendar-text.js';
import { decimalText, doubleText, floatText } from './number-text.js';
import { typeText } from './type-text.js';
import type { DataType, Datum } from './types.js';
import { datumFromText, datumText } from './value.js';

/**
 * Serialises a partition value for `add.partitionValues` (protocol: Partition Value Serialization). Timestamps are written in UTC as
 * `2024-01-15T16:00:00.000000Z`, zone-less ones as `2024-01-15 16:00:00[.ffffff]`.
 *
 * Errors: `INVALID_ROW` for an empty string or binary, which the protocol gives the meaning NULL; for binary that is not UTF-8 and for lone surrogates,
 * which the log's JSON cannot hold; `INVALID_SCHEMA` for a type that cannot partition.
 */
export function serializePartitionValue(type: DataType, datum: Datum): string | null {
  if (datum === null) return null;
  switch (type.type) {
    case 'string':
      return checkedText(datum as string);
    case 'binary':
      return checkedText(binaryText(datum as Uint8Array));
    case 'boolean':
    case 'byte':
    case 'short':
    case 'integer':
    case 'long':
      return String(datum);
    case 'decimal':
      return decimalText(datum as bigint, type.scale);
    case 'float':
      return floatText(datum as number);
    case 'double':
      return doubleText(datum as number);
    case 'date':
      return dateText(datum as number);
    case 'timestamp':
      return `${timestampText(datum as bigint, 'T', 'micros')}Z`;
    case 'timestamp_ntz':
      return timestampText(datum as bigint, ' ', 'needed');
    default:
      throw new TableError(
        'INVALID_SCHEMA',
        `A column of type ${typeText(type)} cannot be a partition column.`,
        { type: typeText(type) },
      );
  }
}

function checkedText(text: string): string {
  if (text === '') {
    throw new TableError(
      'INVALID_ROW',
      'An empty string cannot be a partition value: the Delta protocol gives it the meaning NULL. Use null or another value.',
      { expected: 'a value that is not empty, or null', got: "''" },
    );
  }
  if (/[\ud800-\udfff]/.test(text) && !isWellFormed(text)) {
    throw new TableError('INVALID_ROW', 'A partition value has a lone surrogate, which UTF-8 cannot hold.', {
      got: JSON.stringify(text),
    });
  }
  return text;
}

/** True when no surrogate stands alone. */
export function isWellFormed(text: string): boolean {
  return !/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(text);
}

function binaryText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    const got = Buffer.from(bytes.subarray(0, 32)).toString('hex');
    throw new TableError(
      'INVALID_ROW',
      `Binary partition values must be UTF-8, because the log holds them as text; got x'${got}'.`,
      { got },
      error,
    );
  }
}

export interface PartitionValueOptions {
  /** The IANA zone of timestamps written without one; the protocol says the writer's, which nobody knows. UTC when absent. */
  readonly legacyTimestampZone?: string;
}

/**
 * Reads a raw partition value as engines write them: timestamps with or without a zone, one-digit months, `+1`, `NaN` in any case. An empty string is NULL
 * for every type but string and binary, where it is itself, as Spark and delta-rs have it. Errors: `CORRUPT_LOG` for text that is no value of the type,
 * with the text and the type.
 */
export function parsePartitionValue(
  type: DataType,
  raw: string | null,
  options: PartitionValueOptions = {},
): Datum {
  if (raw === null) return null;
  if (type.type === 'string') return raw;
  if (type.type === 'binary') return new TextEncoder().encode(raw);
  if (raw === '') return null;
  const value = parse(type, raw.trim(), options);
  if (value !== undefined) return value;
  throw new TableError(
    'CORRUPT_LOG',
    `The log has the partition value ${JSON.stringify(raw)}, which is not a ${typeText(type)}.`,
    {
      value: raw,
      expected: typeText(type),
    },
  );
}

function parse(type: DataType, text: string, options: PartitionValueOptions): Datum | undefined {
  switch (type.type) {
    case 'date':
      return parseDateText(text) ?? dateOfTimestamp(text);
    case 'timestamp':
      return timestamp(text, options);
    case 'timestamp_ntz':
      // A zone says nothing of a wall clock; some writers add one all the same.
      return parseTimestampText(text)?.wallMicros;
    default:
      return datumFromText(type, text);
  }
}

function dateOfTimestamp(text: string): number | undefined {
  const day = /^([^T ]+)[T ]/.exec(text)?.[1];
  return day !== undefined && parseTimestampText(text) !== undefined ? parseDateText(day) : undefined;
}

function timestamp(text: string, options: PartitionValueOptions): bigint | undefined {
  const parsed = parseTimestampText(text);
  if (parsed === undefined) return undefined;
  const zone = options.legacyTimestampZone;
  if (parsed.offsetSeconds !== undefined || zone === undefined || zone === 'UTC')
    return instantMicros(parsed);
  return wallClockIn(zone, parsed.wallMicros);
}

function wallClockIn(zone: string, wallMicros: bigint): bigint {
  try {
    const wall = Temporal.PlainDateTime.from(timestampText(wallMicros, 'T', 'micros'));
    return wall.toZonedDateTime(zone).epochNanoseconds / 1000n;
  } catch (error) {
    throw new TableError(
      'INVALID_INPUT',
      `legacyTimestampZone '${zone}' is not a time zone, or the time is outside its range.`,
      { zone },
      error,
    );
  }
}

/**
 * One text for each distinct combination of typed partition values: equal for raws that mean the same (an old `2024-01-15 16:00:00` and a new
 * `2024-01-15T16:00:00.000000Z`, `1` and `01`, `-0.0` and `0.0`), different for NULL, 'null' and ''. `types` and `raws` run in parallel.
 * Errors: `CORRUPT_LOG` as `parsePartitionValue`.
 */
export function partitionKey(
  types: readonly DataType[],
  raws: readonly (string | null)[],
  options: PartitionValueOptions = {},
): string {
  let key = '';
  for (let i = 0; i < types.length; i++) {
    const type = types[i]!;
    const datum = parsePartitionValue(type, raws[i] ?? null, options);
    if (datum === null) {
      key += '-;';
      continue;
    }
    const text = datumText(type, datum);
    key += `${text.length}:${text};`;
  }
  return key;
}
