import { CODEC, decompressInto } from '../flat/codec.js';
import { corrupt } from '../flat/fault.js';
import { bareLevels, isBare, type Page } from '../flat/page.js';
import { type Kernel, kernelBytes, SLACK } from './engine.js';

/** Bytes [start, end) of the kernel's memory. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The front of the kernel's memory, for what is needed only while a page, or a chunk, is decoded. `at` is where it is free. */
export interface Scratch {
  at: number;
  readonly end: number;
}

/** Takes room in the scratch, with slack behind it. */
export function takeRoom(scratch: Scratch, bytes: number): number {
  const start = scratch.at;
  scratch.at += roomFor(bytes);
  if (scratch.at > scratch.end) throw corrupt('a page larger than its header says');
  return start;
}

/** What room of some bytes takes. */
export function roomFor(bytes: number): number {
  return Math.ceil((bytes + SLACK) / 64) * 64;
}

/** What `placePage` takes at the most. */
export function roomForPage(page: Page): number {
  return roomFor(page.end - page.start) + roomFor(page.uncompressed);
}

/** Brings a page into the kernel's memory as it was before compression: levels, which version 2 never compresses, and values. */
export function placePage(
  kernel: Kernel,
  chunk: Uint8Array,
  page: Page,
  codec: number,
  scratch: Scratch,
): Span {
  const raw = chunk.subarray(page.start, page.end);
  if (isBare(page, codec)) {
    const start = takeRoom(scratch, raw.length);
    kernelBytes().set(raw, start);
    return { start, end: start + raw.length };
  }
  const levels = bareLevels(page);
  const start = takeRoom(scratch, page.uncompressed);
  const span = { start, end: start + page.uncompressed };
  const bytes = kernelBytes();
  if (levels > 0) bytes.set(raw.subarray(0, levels), start);
  if (codec !== CODEC.snappy) {
    decompressInto(codec, raw.subarray(levels), bytes, start + levels, span.end);
    return span;
  }
  const packed = takeRoom(scratch, raw.length);
  bytes.set(raw, packed);
  checked(kernel.snappy(packed + levels, packed + raw.length, start + levels, span.end));
  return span;
}

/** What a routine gives, where it is not a refusal. */
export function checked(result: number): number {
  if (result < 0) throw corrupt('a page that the kernel cannot read');
  return result;
}
