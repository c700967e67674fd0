import { corrupt } from './fault.js';

/** Field types of Thrift's compact protocol. */
export const THRIFT = {
  stop: 0,
  true: 1,
  false: 2,
  i8: 3,
  i16: 4,
  i32: 5,
  i64: 6,
  double: 7,
  binary: 8,
  list: 9,
  set: 10,
  map: 11,
  struct: 12,
} as const;

const MAX_DEPTH = 32;

/** A cursor over Thrift compact bytes. Every read is checked against the end of the bytes. */
export class ThriftReader {
  position: number;
  readonly #bytes: Uint8Array;
  readonly #end: number;

  constructor(bytes: Uint8Array, start: number, end: number) {
    this.#bytes = bytes;
    this.position = start;
    this.#end = end;
  }

  byte(): number {
    if (this.position >= this.#end) throw corrupt('thrift data ends early');
    return this.#bytes[this.position++] as number;
  }

  /** An unsigned varint; values above 2^53 lose low bits, which no caller takes for exact. */
  varint(): number {
    let result = 0;
    let scale = 1;
    for (let i = 0; i < 10; i++) {
      const byte = this.byte();
      result += (byte & 0x7f) * scale;
      if (byte < 0x80) return result;
      scale *= 128;
    }
    throw corrupt('thrift varint of more than ten bytes');
  }

  /** A zigzag integer of any width. */
  integer(): number {
    const raw = this.varint();
    return raw % 2 === 0 ? raw / 2 : -(raw + 1) / 2;
  }

  /** A boolean inside a list or a field's header type. */
  boolean(type: number): boolean {
    return type === THRIFT.true;
  }

  binary(): Uint8Array {
    const length = this.varint();
    const start = this.position;
    if (length > this.#end - start) throw corrupt('thrift string runs past the end');
    this.position = start + length;
    return this.#bytes.subarray(start, start + length);
  }

  text(): string {
    return new TextDecoder().decode(this.binary());
  }

  /** Calls `onField` for every field of a struct; it must read or `skip` the value. */
  struct(onField: (id: number, type: number) => void): void {
    let id = 0;
    for (;;) {
      const header = this.byte();
      const type = header & 0x0f;
      if (type === THRIFT.stop) return;
      const delta = header >> 4;
      id = delta === 0 ? this.integer() : id + delta;
      onField(id, type);
    }
  }

  /** Calls `onItem` for every element of a list; a list that claims more elements than bytes are left is refused. */
  list(onItem: (type: number, index: number) => void): void {
    const header = this.byte();
    const type = header & 0x0f;
    const short = header >> 4;
    const size = short === 15 ? this.varint() : short;
    if (size > this.#end - this.position) throw corrupt('thrift list is longer than its data');
    for (let i = 0; i < size; i++) onItem(type, i);
  }

  skip(type: number, depth = 0): void {
    if (depth > MAX_DEPTH) throw corrupt('thrift data is nested too deep');
    switch (type) {
      case THRIFT.true:
      case THRIFT.false:
        return;
      case THRIFT.i8:
        this.byte();
        return;
      case THRIFT.i16:
      case THRIFT.i32:
      case THRIFT.i64:
        this.varint();
        return;
      case THRIFT.double:
        if (this.position + 8 > this.#end) throw corrupt('thrift data ends early');
        this.position += 8;
        return;
      case THRIFT.binary:
        this.binary();
        return;
      case THRIFT.list:
      case THRIFT.set:
        this.list((item) => {
          if (item === THRIFT.true || item === THRIFT.false) this.byte();
          else this.skip(item, depth + 1);
        });
        return;
      case THRIFT.map: {
        const size = this.varint();
        if (size === 0) return;
        if (size > this.#end - this.position) throw corrupt('thrift map is longer than its data');
        const types = this.byte();
        for (let i = 0; i < size; i++) {
          this.skip(types >> 4, depth + 1);
          this.skip(types & 0x0f, depth + 1);
        }
        return;
      }
      case THRIFT.struct:
        this.struct((_id, field) => this.skip(field, depth + 1));
        return;
      default:
        throw corrupt(`thrift type ${type} is unknown`);
    }
  }
}
