/** Bytes that grow at the end. */
export class ByteSink {
  bytes: Uint8Array<ArrayBuffer>;
  length = 0;

  constructor(capacity = 1024) {
    this.bytes = new Uint8Array(capacity);
  }

  /** Makes room for `more` bytes; the caller writes at `length` and moves it. */
  room(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(this.bytes.length * 2, this.length + more));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
  }

  byte(value: number): void {
    this.room(1);
    this.bytes[this.length++] = value;
  }

  varint(value: number): void {
    let rest = value;
    while (rest > 127) {
      this.byte((rest % 128) | 128);
      rest = Math.floor(rest / 128);
    }
    this.byte(rest);
  }

  int32(value: number): void {
    this.room(4);
    const { bytes, length } = this;
    bytes[length] = value & 255;
    bytes[length + 1] = (value >>> 8) & 255;
    bytes[length + 2] = (value >>> 16) & 255;
    bytes[length + 3] = value >>> 24;
    this.length += 4;
  }

  /** A 64-bit integer from a double that holds it exactly. */
  int64(value: number): void {
    const high = Math.floor(value / 4294967296);
    this.int32((value - high * 4294967296) | 0);
    this.int32(high | 0);
  }

  bigint64(value: bigint): void {
    this.int32(Number(BigInt.asIntN(32, value)));
    this.int32(Number(BigInt.asIntN(32, value >> 32n)));
  }

  double(value: number): void {
    this.room(8);
    new DataView(this.bytes.buffer).setFloat64(this.length, value, true);
    this.length += 8;
  }

  float(value: number): void {
    this.room(4);
    new DataView(this.bytes.buffer).setFloat32(this.length, value, true);
    this.length += 4;
  }

  /** Copies `from[start, end)`. */
  copy(from: Uint8Array, start: number, end: number): void {
    const size = end - start;
    this.room(size);
    if (size > 48) this.bytes.set(from.subarray(start, end), this.length);
    else for (let i = 0, to = this.length; i < size; i++) this.bytes[to + i] = from[start + i] as number;
    this.length += size;
  }

  /** What was written, as a view. */
  view(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }

  clear(): void {
    this.length = 0;
  }
}
