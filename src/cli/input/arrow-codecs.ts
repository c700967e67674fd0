import { CompressionType, compressionRegistry } from 'apache-arrow';
import { decompress } from 'fzstd';
import { TableError } from '../../errors.js';

/** Lets Arrow's reader take compressed buffers, as pyarrow and Polars write them (Arrow format: Buffer Compression). */
export function registerArrowCodecs(): void {
  compressionRegistry.set(CompressionType.LZ4_FRAME, { decode: decodeLz4Frame });
  // A copy, since Arrow wants its buffers to begin at multiples of 8.
  compressionRegistry.set(CompressionType.ZSTD, { decode: (bytes) => decompress(bytes).slice() });
}

const MAGIC = 0x184d2204;
/** The size of the longest block (LZ4 Frame Format: Block Maximum Size). */
const LONGEST_BLOCK = 4 << 20;
/** The header before the optional content size and its checksum. */
const HEADER = 6;

/** Decompresses one LZ4 frame; its blocks may copy from those before them. Checksums are not looked at. Throws `INVALID_INPUT` for what is none. */
export function decodeLz4Frame(input: Uint8Array): Uint8Array {
  const view = new DataView(input.buffer, input.byteOffset, input.byteLength);
  if (input.length < HEADER + 1 || view.getUint32(0, true) !== MAGIC) throw fault('no frame');
  const flags = input[4]!;
  if (flags >> 6 !== 1) throw fault('a frame of an unknown version');
  const hasBlockChecksum = (flags & 16) !== 0;
  const output = new Output(Math.max(input.length * 4, LONGEST_BLOCK));
  let at = HEADER + ((flags & 8) !== 0 ? 8 : 0) + ((flags & 1) !== 0 ? 4 : 0) + 1;
  for (;;) {
    if (at + 4 > input.length) throw fault('a frame without an end');
    const word = view.getUint32(at, true);
    at += 4;
    if (word === 0) return output.bytes();
    const size = word & 0x7fffffff;
    if (size > input.length - at || size > LONGEST_BLOCK) throw fault('a block longer than its frame');
    const block = input.subarray(at, at + size);
    if (word >>> 31 === 1) output.append(block);
    else decodeBlock(block, output);
    at += size + (hasBlockChecksum ? 4 : 0);
  }
}

/** Bytes that grow as blocks come; a block gives at most `LONGEST_BLOCK`. */
class Output {
  memory: Uint8Array;
  length = 0;

  constructor(size: number) {
    this.memory = new Uint8Array(size);
  }

  reserve(more: number): void {
    if (this.length + more <= this.memory.length) return;
    const wider = new Uint8Array(Math.max(this.memory.length * 2, this.length + more));
    wider.set(this.memory.subarray(0, this.length));
    this.memory = wider;
  }

  append(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.memory.set(bytes, this.length);
    this.length += bytes.length;
  }

  bytes(): Uint8Array {
    return this.memory.slice(0, this.length);
  }
}

function decodeBlock(input: Uint8Array, output: Output): void {
  output.reserve(LONGEST_BLOCK);
  const { memory } = output;
  const end = output.length + LONGEST_BLOCK;
  let to = output.length;
  let at = 0;
  const extended = (base: number): number => {
    let size = base;
    if (base < 15) return size;
    for (let byte = 255; byte === 255; size += byte) {
      if (at >= input.length) throw fault('a length that runs past its block');
      byte = input[at++]!;
    }
    return size;
  };
  while (at < input.length) {
    const token = input[at++]!;
    const literal = extended(token >> 4);
    if (literal > input.length - at || literal > end - to) throw fault('text that runs past its block');
    memory.set(input.subarray(at, at + literal), to);
    at += literal;
    to += literal;
    if (at >= input.length) break;
    const distance = input[at]! | ((input[at + 1] ?? 0) << 8);
    at += 2;
    const size = extended(token & 15) + 4;
    if (distance === 0 || distance > to || size > end - to) throw fault('a copy from outside of its frame');
    for (let from = to - distance, stop = to + size; to < stop; ) memory[to++] = memory[from++]!;
  }
  output.length = to;
}

function fault(what: string): TableError {
  return new TableError('INVALID_INPUT', `The LZ4 data of the input cannot be read: ${what}.`, {});
}
