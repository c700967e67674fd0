import { type DataType as ArrowType, Data } from 'apache-arrow';
import { toArrowType } from './arrow.js';
import { CellFault, describeValue, Refusal } from './cell-fault.js';
import { dateValue, decimalValue, instantValue, wallClockValue } from './cell-values.js';
import { buildArray, buildMap, buildStruct } from './nested-builder.js';
import { packBytes, packStrings } from './text-column.js';
import { typeText } from './type-text.js';
import type { DataType, DecimalType } from './types.js';

/** What a column is built from. */
export interface ColumnSpec {
  readonly type: DataType;
  readonly nullable: boolean;
  /** Bits of the rows whose parent is not NULL: below a NULL parent, NULL is allowed whatever the field says. */
  readonly parents?: Uint8Array | undefined;
}

/** The NULLs of a column; the bitmap is made when the first one comes. */
export class Validity {
  readonly length: number;
  bitmap: Uint8Array | undefined;
  nulls = 0;

  constructor(length: number) {
    this.length = length;
  }

  clear(i: number): void {
    if (this.bitmap === undefined) {
      // Multiples of 8 bytes, as the Arrow format has it.
      this.bitmap = new Uint8Array(((this.length + 63) >> 6) << 3);
      this.bitmap.fill(255, 0, this.length >> 3);
      if ((this.length & 7) !== 0) this.bitmap[this.length >> 3] = (1 << (this.length & 7)) - 1;
    }
    this.bitmap[i >> 3]! &= ~(1 << (i & 7));
    this.nulls++;
  }
}

/**
 * Builds one Arrow column from JavaScript values, null and undefined being NULL, in exactly the Arrow type of the Delta type. Throws `CellFault`, its index
 * counted in `values`.
 */
export function buildColumn(values: readonly unknown[], spec: ColumnSpec): Data {
  const arrowType = toArrowType(spec.type);
  switch (spec.type.type) {
    case 'struct':
    case 'variant':
      return buildStruct(values, spec, arrowType);
    case 'array':
      return buildArray(values, spec, arrowType, spec.type);
    case 'map':
      return buildMap(values, spec, arrowType, spec.type);
    case 'string':
      return stringColumn(values, spec, arrowType);
    case 'binary':
      return binaryColumn(values, spec, arrowType);
    case 'boolean':
      return booleanColumn(values, spec, arrowType);
    case 'void': {
      each(values, spec, () => {
        throw new Refusal('NULL', 'A void column holds nothing else.');
      });
      return new Data(arrowType, 0, values.length, values.length);
    }
    case 'interval year to month':
    case 'interval day to second': {
      const validity = each(values, spec, () => {
        throw new Refusal('NULL', 'Intervals are outside the Delta protocol and can only be read.');
      });
      const buffer =
        spec.type.type === 'interval year to month'
          ? new Int32Array(values.length)
          : new BigInt64Array(values.length);
      return new Data(arrowType, 0, values.length, validity.nulls, [
        undefined,
        buffer,
        validity.bitmap,
      ] as never);
    }
    default:
      return fixedColumn(values, spec, arrowType);
  }
}

/** Calls `set` for every value that is not NULL, gathers the NULLs, and gives refusals their place. */
export function each(
  values: readonly unknown[],
  spec: ColumnSpec,
  set: (i: number, value: NonNullable<unknown>) => void,
): Validity {
  const validity = new Validity(values.length);
  let i = 0;
  try {
    for (; i < values.length; i++) {
      const value = values[i];
      if (value === null || value === undefined) {
        if (!spec.nullable && !belowNull(spec, i)) throw new Refusal(`${typeText(spec.type)} not null`);
        validity.clear(i);
      } else {
        set(i, value);
      }
    }
  } catch (error) {
    throw placed(error, i, values[i]);
  }
  return validity;
}

function belowNull(spec: ColumnSpec, i: number): boolean {
  return spec.parents !== undefined && ((spec.parents[i >> 3]! >> (i & 7)) & 1) === 0;
}

/** A refusal with its place; anything else as it is. */
export function placed(error: unknown, index: number, value: unknown): unknown {
  if (!(error instanceof Refusal)) return error;
  return new CellFault({ index, expected: error.expected, got: describeValue(value), hint: error.hint });
}

function stringColumn(values: readonly unknown[], spec: ColumnSpec, arrowType: ArrowType): Data {
  const texts = new Array<string>(values.length).fill('');
  const validity = each(values, spec, (i, value) => {
    if (typeof value !== 'string') throw new Refusal('string');
    texts[i] = value;
  });
  let row = 0;
  try {
    const { offsets, bytes } = packStrings(texts, (i) => {
      row = i;
    });
    return new Data(arrowType, 0, values.length, validity.nulls, [offsets, bytes, validity.bitmap]);
  } catch (error) {
    throw placed(error, row, values[row]);
  }
}

function binaryColumn(values: readonly unknown[], spec: ColumnSpec, arrowType: ArrowType): Data {
  const parts = new Array<Uint8Array | undefined>(values.length);
  const validity = each(values, spec, (i, value) => {
    if (value instanceof Uint8Array) parts[i] = value;
    else if (value instanceof ArrayBuffer) parts[i] = new Uint8Array(value);
    else throw new Refusal('binary', 'Give a Uint8Array.');
  });
  let row = 0;
  try {
    const { offsets, bytes } = packBytes(parts, (i) => {
      row = i;
    });
    return new Data(arrowType, 0, values.length, validity.nulls, [offsets, bytes, validity.bitmap]);
  } catch (error) {
    throw placed(error, row, values[row]);
  }
}

function booleanColumn(values: readonly unknown[], spec: ColumnSpec, arrowType: ArrowType): Data {
  const bits = new Uint8Array(((values.length + 63) >> 6) << 3);
  const validity = each(values, spec, (i, value) => {
    if (value === true) bits[i >> 3]! |= 1 << (i & 7);
    else if (value !== false) throw new Refusal('boolean');
  });
  return new Data(arrowType, 0, values.length, validity.nulls, [undefined, bits, validity.bitmap]);
}

type Setter = (i: number, value: NonNullable<unknown>) => void;

function fixedColumn(values: readonly unknown[], spec: ColumnSpec, arrowType: ArrowType): Data {
  const { buffer, set } = fixedSetter(spec.type, values.length);
  const validity = each(values, spec, set);
  return new Data(arrowType, 0, values.length, validity.nulls, [undefined, buffer, validity.bitmap] as never);
}

function fixedSetter(type: DataType, length: number): { buffer: ArrayBufferView; set: Setter } {
  switch (type.type) {
    case 'byte':
      return integers(new Int8Array(length), 'tinyint', -128, 127);
    case 'short':
      return integers(new Int16Array(length), 'smallint', -32_768, 32_767);
    case 'integer':
      return integers(new Int32Array(length), 'int', -2_147_483_648, 2_147_483_647);
    case 'long':
      return longs(length);
    case 'float':
      return floats(new Float32Array(length), 'float');
    case 'double':
      return floats(new Float64Array(length), 'double');
    case 'date': {
      const buffer = new Int32Array(length);
      return {
        buffer,
        set: (i, value) => {
          buffer[i] = dateValue(value);
        },
      };
    }
    case 'decimal':
      return decimals(length, type);
    case 'timestamp':
    case 'timestamp_ntz': {
      const buffer = new BigInt64Array(length);
      const convert = type.type === 'timestamp' ? instantValue : wallClockValue;
      return {
        buffer,
        set: (i, value) => {
          buffer[i] = convert(value);
        },
      };
    }
    default:
      throw new TypeError(`not a fixed width type: ${type.type}`);
  }
}

function integers(
  buffer: Int8Array | Int16Array | Int32Array,
  name: string,
  least: number,
  greatest: number,
): { buffer: ArrayBufferView; set: Setter } {
  return {
    buffer,
    set: (i, value) => {
      const number = typeof value === 'bigint' ? Number(value) : value;
      if (typeof number !== 'number' || !Number.isInteger(number)) throw new Refusal(name);
      if (number < least || number > greatest)
        throw new Refusal(name, `It is outside ${least} to ${greatest}.`);
      buffer[i] = number;
    },
  };
}

const LEAST_LONG = -(2n ** 63n);
const GREATEST_LONG = 2n ** 63n - 1n;
const TWO_32 = 4_294_967_296;

function longs(length: number): { buffer: ArrayBufferView; set: Setter } {
  const buffer = new BigInt64Array(length);
  const halves = new Int32Array(buffer.buffer);
  return {
    buffer,
    set: (i, value) => {
      if (typeof value === 'bigint') {
        if (value < LEAST_LONG || value > GREATEST_LONG)
          throw new Refusal('bigint', 'It is outside 64 bits.');
        buffer[i] = value;
      } else if (typeof value === 'number') {
        if (!Number.isSafeInteger(value)) {
          throw new Refusal(
            'bigint',
            Number.isInteger(value) ? 'Beyond 2^53 a number has lost digits; give a bigint.' : undefined,
          );
        }
        // Two halves are several times faster than BigInt(value).
        halves[2 * i] = value;
        halves[2 * i + 1] = Math.floor(value / TWO_32);
      } else {
        throw new Refusal('bigint');
      }
    },
  };
}

function floats(buffer: Float32Array | Float64Array, name: string): { buffer: ArrayBufferView; set: Setter } {
  return {
    buffer,
    set: (i, value) => {
      let number = value;
      if (typeof value === 'bigint') {
        number = Number(value);
        if (BigInt(number as number) !== value)
          throw new Refusal(name, 'The bigint has digits that this type would lose.');
      }
      if (typeof number !== 'number') throw new Refusal(name);
      buffer[i] = number;
      if (!Number.isFinite(buffer[i]) && Number.isFinite(number))
        throw new Refusal(name, 'It is beyond the greatest float.');
    },
  };
}

function decimals(length: number, type: DecimalType): { buffer: ArrayBufferView; set: Setter } {
  const buffer = new Uint32Array(length * 4);
  const halves = new BigInt64Array(buffer.buffer);
  return {
    buffer,
    set: (i, value) => {
      const unscaled = decimalValue(value, type);
      halves[2 * i] = BigInt.asIntN(64, unscaled);
      halves[2 * i + 1] = unscaled >> 64n;
    },
  };
}
