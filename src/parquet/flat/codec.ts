import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { decompress as unzstd } from 'fzstd';
import { corrupt, unsupported } from './fault.js';
import { unlz4, unlz4Hadoop } from './lz4.js';
import { unsnappy } from './snappy.js';

/** Compression codecs by their number in the format. */
export const CODEC = {
  uncompressed: 0,
  snappy: 1,
  gzip: 2,
  lzo: 3,
  brotli: 4,
  lz4: 5,
  zstd: 6,
  lz4Raw: 7,
} as const;

/** Decompresses one page into `out[start, end)`, which it must fill exactly; a page that becomes longer or shorter is corrupt. */
export function decompressInto(
  codec: number,
  input: Uint8Array,
  out: Uint8Array,
  start: number,
  end: number,
): void {
  switch (codec) {
    case CODEC.uncompressed:
      if (input.length !== end - start) throw corrupt('a page is not as long as it says');
      out.set(input, start);
      return;
    case CODEC.snappy:
      unsnappy(input, out, start, end);
      return;
    case CODEC.lz4Raw:
      unlz4(input, out, start, end);
      return;
    case CODEC.lz4:
      unlz4Hadoop(input, out, start, end);
      return;
    case CODEC.gzip:
      place(inflate('gzip', gunzipSync, input, end - start), out, start, end);
      return;
    case CODEC.brotli:
      place(inflate('brotli', brotliDecompressSync, input, end - start), out, start, end);
      return;
    case CODEC.zstd:
      unzstdInto(input, out, start, end);
      return;
    default:
      throw unsupported(`compression codec ${codec}`);
  }
}

function inflate(name: string, engine: typeof gunzipSync, input: Uint8Array, length: number): Uint8Array {
  try {
    return engine(input, { maxOutputLength: Math.max(1, length) });
  } catch (error) {
    throw corrupt(
      `a ${name} page cannot be read (${error instanceof Error ? error.message : String(error)})`,
    );
  }
}

function unzstdInto(input: Uint8Array, out: Uint8Array, start: number, end: number): void {
  let result: Uint8Array;
  try {
    result = unzstd(input, out.subarray(start, end));
  } catch (error) {
    throw corrupt(`a zstd page cannot be read (${error instanceof Error ? error.message : String(error)})`);
  }
  if (result.length !== end - start) throw corrupt('a page is not as long as it says');
  if (result.buffer !== out.buffer || result.byteOffset !== out.byteOffset + start) out.set(result, start);
}

function place(result: Uint8Array, out: Uint8Array, start: number, end: number): void {
  if (result.length !== end - start) throw corrupt('a page is not as long as it says');
  out.set(result, start);
}
