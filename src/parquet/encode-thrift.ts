import { TableError } from '../errors.js';

/** The wire types of Thrift's compact protocol. */
export const T = {
  TRUE: 1,
  FALSE: 2,
  I8: 3,
  I16: 4,
  I32: 5,
  I64: 6,
  DOUBLE: 7,
  BINARY: 8,
  LIST: 9,
  STRUCT: 12,
} as const;

/** A Thrift value with nothing known of its meaning, so that what this library does not know is written back as it was read. */
export type ThriftValue = boolean | number | bigint | Uint8Array | ThriftList | ThriftStruct;

export interface ThriftList {
  readonly type: number;
  readonly items: ThriftValue[];
}

/** Fields by id, in the order of the wire. */
export type ThriftStruct = Map<number, { readonly type: number; value: ThriftValue }>;

/** Reads one struct of the compact protocol (as Parquet's footers and page indexes are) and says where it ends. */
export function readThrift(bytes: Uint8Array, start = 0): { struct: ThriftStruct; end: number } {
  let at = start;
  return { struct: struct(), end: at };

  function byte(): number {
    const value = bytes[at++];
    if (value === undefined) throw broken('it ends early');
    return value;
  }

  function varint(): number | bigint {
    let value = 0;
    let scale = 1;
    for (let i = 0; i < 7; i++) {
      const b = byte();
      value += (b & 0x7f) * scale;
      if (b < 0x80) return value;
      scale *= 128;
    }
    let wide = BigInt(value);
    for (let shift = 49n; shift < 70n; shift += 7n) {
      const b = byte();
      wide |= BigInt(b & 0x7f) << shift;
      if (b < 0x80) return wide;
    }
    throw broken('a number is too long');
  }

  function zigzag(): number | bigint {
    const raw = varint();
    if (typeof raw === 'number') return raw % 2 === 0 ? raw / 2 : -(raw + 1) / 2;
    const value = (raw >> 1n) ^ -(raw & 1n);
    return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER)
      ? Number(value)
      : value;
  }

  function value(type: number): ThriftValue {
    switch (type) {
      case T.I8:
        return (byte() << 24) >> 24;
      case T.I16:
      case T.I32:
      case T.I64:
        return zigzag();
      case T.DOUBLE: {
        at += 8;
        return bytes.slice(at - 8, at);
      }
      case T.BINARY: {
        const length = Number(varint());
        if (at + length > bytes.length) throw broken('a string is longer than the rest');
        at += length;
        return bytes.slice(at - length, at);
      }
      case T.LIST:
        return list();
      case T.STRUCT:
        return struct();
      default:
        throw broken(`wire type ${type}`);
    }
  }

  function list(): ThriftList {
    const head = byte();
    const type = head & 15;
    const length = head >> 4 === 15 ? Number(varint()) : head >> 4;
    const items: ThriftValue[] = [];
    // A boolean in a list is a byte of its own; in a struct it is the wire type.
    for (let i = 0; i < length; i++) items.push(type <= T.FALSE ? byte() === T.TRUE : value(type));
    return { type, items };
  }

  function struct(): ThriftStruct {
    const fields: ThriftStruct = new Map();
    for (let id = 0; ; ) {
      const head = byte();
      if (head === 0) return fields;
      const type = head & 15;
      id = head >> 4 === 0 ? Number(zigzag()) : id + (head >> 4);
      fields.set(
        id,
        type <= T.FALSE ? { type: T.TRUE, value: type === T.TRUE } : { type, value: value(type) },
      );
    }
  }
}

/** The bytes of a struct in the compact protocol. */
export function writeThrift(root: ThriftStruct): Uint8Array {
  let out = new Uint8Array(1024);
  let at = 0;
  struct(root);
  return out.slice(0, at);

  function room(length: number): void {
    if (at + length <= out.length) return;
    const larger = new Uint8Array(Math.max(out.length * 2, at + length));
    larger.set(out);
    out = larger;
  }

  function byte(value: number): void {
    room(1);
    out[at++] = value;
  }

  function varint(value: number | bigint): void {
    if (typeof value === 'bigint') {
      let rest = value;
      for (; rest > 127n; rest >>= 7n) byte(Number(rest & 127n) | 128);
      byte(Number(rest));
      return;
    }
    let rest = value;
    for (; rest > 127; rest = Math.floor(rest / 128)) byte((rest % 128) | 128);
    byte(rest);
  }

  function zigzag(value: number | bigint): void {
    if (typeof value === 'number' && Math.abs(value) < 2 ** 51)
      varint(value < 0 ? -value * 2 - 1 : value * 2);
    else varint(BigInt.asUintN(64, (BigInt(value) << 1n) ^ (BigInt(value) >> 63n)));
  }

  function raw(value: Uint8Array): void {
    room(value.length);
    out.set(value, at);
    at += value.length;
  }

  function value(type: number, item: ThriftValue): void {
    switch (type) {
      case T.I8:
        byte((item as number) & 255);
        return;
      case T.I16:
      case T.I32:
      case T.I64:
        zigzag(item as number | bigint);
        return;
      case T.DOUBLE:
        raw(item as Uint8Array);
        return;
      case T.BINARY:
        varint((item as Uint8Array).length);
        raw(item as Uint8Array);
        return;
      case T.LIST:
        list(item as ThriftList);
        return;
      default:
        struct(item as ThriftStruct);
    }
  }

  function list({ type, items }: ThriftList): void {
    if (items.length < 15) byte((items.length << 4) | type);
    else {
      byte(0xf0 | type);
      varint(items.length);
    }
    for (const item of items) {
      if (type <= T.FALSE) byte(item ? T.TRUE : T.FALSE);
      else value(type, item);
    }
  }

  function struct(fields: ThriftStruct): void {
    let last = 0;
    for (const [id, field] of [...fields].sort(([a], [b]) => a - b)) {
      const type = field.type === T.TRUE ? (field.value ? T.TRUE : T.FALSE) : field.type;
      if (id > last && id - last < 16) byte(((id - last) << 4) | type);
      else {
        byte(type);
        zigzag(id);
      }
      if (field.type !== T.TRUE) value(field.type, field.value);
      last = id;
    }
    byte(0);
  }
}

function broken(what: string): TableError {
  return new TableError('CORRUPT_DATA_FILE', `A Thrift structure of a Parquet file cannot be read: ${what}.`);
}
