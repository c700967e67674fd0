import type { Row, RowOptions } from '../../schema/rows-out.js';
import type { DataType, StructType } from '../../schema/types.js';
import { variantText } from '../../schema/variant.js';

/** The form of rows that the renderers take. */
export const ROW_FORM: RowOptions = { int64: 'bigint', timestamp: 'string' };

/** Writes one value as text. */
type Write = (value: unknown) => string;

/**
 * Writes rows as JSON: whole numbers beyond 2^53, decimals and times as text, NaN and the infinities as text, binary in base64, maps with text keys as
 * objects and others as arrays of pairs, variants as the JSON they hold.
 */
export function jsonRowWriter(schema: StructType): (row: Row) => string {
  const members = schema.fields.map(({ name, dataType }, i) => ({
    name,
    head: `${i === 0 ? '' : ','}${JSON.stringify(name)}:`,
    write: jsonWriter(dataType),
  }));
  return (row) => {
    let text = '{';
    for (const { name, head, write } of members) text += head + write(row[name]);
    return `${text}}`;
  };
}

/** Writes cells of one type as `jsonRowWriter` does. */
export function jsonWriter(type: DataType): Write {
  const write = valueWriter(type);
  return (value) => (value === null || value === undefined ? 'null' : write(value));
}

function valueWriter(type: DataType): Write {
  switch (type.type) {
    case 'long':
      return (value) => (Number.isSafeInteger(Number(value)) ? String(value) : `"${value}"`);
    case 'float':
      return (value) => doubleText(shortest(value as number));
    case 'double':
      return (value) => doubleText(value as number);
    case 'binary':
      return (value) => `"${Buffer.from(value as Uint8Array).toString('base64')}"`;
    case 'struct': {
      const write = jsonRowWriter(type);
      return (value) => write(value as Row);
    }
    case 'array': {
      const element = jsonWriter(type.elementType);
      return (value) => `[${(value as unknown[]).map(element).join(',')}]`;
    }
    case 'map': {
      const key = jsonWriter(type.keyType);
      const item = jsonWriter(type.valueType);
      const [open, close] = type.keyType.type === 'string' ? '{}' : '[]';
      const pair: (key: string, item: string) => string =
        type.keyType.type === 'string' ? (k, v) => `${k}:${v}` : (k, v) => `[${k},${v}]`;
      return (value) => {
        const entries = [...(value as Iterable<[unknown, unknown]>)];
        return `${open}${entries.map(([k, v]) => pair(key(k), item(v))).join(',')}${close}`;
      };
    }
    case 'variant':
      return (value) => {
        const { value: bytes, metadata } = value as { value: Uint8Array; metadata: Uint8Array };
        return variantText(metadata, bytes);
      };
    case 'byte':
    case 'short':
    case 'integer':
    case 'boolean':
      return String;
    case 'string':
      return (value) => JSON.stringify(value);
    default:
      // Decimals and times have nothing in them to escape.
      return (value) => `"${value}"`;
  }
}

function doubleText(value: number): string {
  if (!Number.isFinite(value)) return `"${value}"`;
  return Object.is(value, -0) ? '-0.0' : String(value);
}

/** Writes cells of one type as plain text, as tables and CSV show it; undefined for NULL. Nested values are their JSON. */
export function textWriter(type: DataType): (value: unknown) => string | undefined {
  const write = plainWriter(type);
  return (value) => (value === null || value === undefined ? undefined : write(value));
}

function plainWriter(type: DataType): Write {
  switch (type.type) {
    case 'float':
      return (value) => plainDouble(shortest(value as number));
    case 'double':
      return (value) => plainDouble(value as number);
    case 'binary':
      return (value) => Buffer.from(value as Uint8Array).toString('base64');
    case 'struct':
    case 'array':
    case 'map':
    case 'variant':
      return valueWriter(type);
    default:
      return String;
  }
}

function plainDouble(value: number): string {
  return Object.is(value, -0) ? '-0.0' : String(value);
}

/** The number of the fewest digits that is the same float. */
function shortest(value: number): number {
  for (let digits = 6; digits < 9; digits++) {
    const candidate = Number(value.toPrecision(digits));
    if (Math.fround(candidate) === value) return candidate;
  }
  return value;
}
