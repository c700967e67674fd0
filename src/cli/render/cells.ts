import type { Row, RowOptions } from '../../schema/rows-out.js';
import type { DataType, StructType } from '../../schema/types.js';
import { variantText } from '../../schema/variant.js';

/** The form of rows that the renderers take. */
export const ROW_FORM: RowOptions = { int64: 'bigint', timestamp: 'string' };

/**
 * A row as JSON: whole numbers beyond 2^53, decimals and times as text, NaN and the infinities as text, binary in base64, maps with text keys as objects
 * and others as arrays of pairs, variants as the JSON they hold.
 */
export function jsonRow(row: Row, schema: StructType): string {
  return `{${schema.fields.map(({ name, dataType }) => `${JSON.stringify(name)}:${jsonCell(row[name], dataType)}`).join(',')}}`;
}

/** One cell as `jsonRow` writes it. */
export function jsonCell(value: unknown, type: DataType): string {
  if (value === null || value === undefined) return 'null';
  switch (type.type) {
    case 'long': {
      const long = value as bigint;
      return Number.isSafeInteger(Number(long)) ? String(long) : `"${long}"`;
    }
    case 'float':
    case 'double': {
      const number = value as number;
      if (!Number.isFinite(number)) return `"${number}"`;
      if (Object.is(number, -0)) return '-0.0';
      return String(type.type === 'float' ? shortest(number) : number);
    }
    case 'binary':
      return `"${Buffer.from(value as Uint8Array).toString('base64')}"`;
    case 'struct':
      return jsonRow(value as Row, type);
    case 'array':
      return `[${(value as unknown[]).map((element) => jsonCell(element, type.elementType)).join(',')}]`;
    case 'map': {
      const entries = [...(value as Iterable<[unknown, unknown]>)];
      if (type.keyType.type === 'string')
        return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${jsonCell(item, type.valueType)}`).join(',')}}`;
      return `[${entries.map(([key, item]) => `[${jsonCell(key, type.keyType)},${jsonCell(item, type.valueType)}]`).join(',')}]`;
    }
    case 'variant': {
      const { value: bytes, metadata } = value as { value: Uint8Array; metadata: Uint8Array };
      return variantText(metadata, bytes);
    }
    case 'byte':
    case 'short':
    case 'integer':
    case 'boolean':
      return String(value);
    default:
      return JSON.stringify(String(value));
  }
}

/** One cell as plain text, as tables and CSV show it; undefined for NULL. Nested values are their JSON. */
export function textCell(value: unknown, type: DataType): string | undefined {
  if (value === null || value === undefined) return undefined;
  switch (type.type) {
    case 'long':
    case 'string':
    case 'decimal':
    case 'date':
    case 'timestamp':
    case 'timestamp_ntz':
      return String(value);
    case 'float':
    case 'double':
      return Object.is(value, -0)
        ? '-0.0'
        : String(type.type === 'float' ? shortest(value as number) : value);
    case 'binary':
      return Buffer.from(value as Uint8Array).toString('base64');
    case 'struct':
    case 'array':
    case 'map':
    case 'variant':
      return jsonCell(value, type);
    default:
      return String(value);
  }
}

/** The number of the fewest digits that is the same float. */
function shortest(value: number): number {
  for (let digits = 6; digits < 9; digits++) {
    const candidate = Number(value.toPrecision(digits));
    if (Math.fround(candidate) === value) return candidate;
  }
  return value;
}
