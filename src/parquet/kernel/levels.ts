import { corrupt } from '../flat/fault.js';
import type { Leaf } from '../flat/footer.js';
import type { Page } from '../flat/page.js';
import { type Kernel, kernelBytes } from './engine.js';
import { checked, type Scratch, type Span, takeRoom } from './place.js';

/** A column's bitmap of what is not null, at `map`. It is written from the first null on. */
export interface Validity {
  readonly map: number;
  readonly rows: number;
  nulls: number;
  isOpen: boolean;
}

/** Where the values of a page begin and how many they are; where some are null, the address of its levels as numbers of 4 bytes. */
export interface PageLevels {
  readonly at: number;
  readonly present: number;
  readonly flags: number;
}

/** Takes in the levels of a page whose first row is `row` of its column. */
export function readLevels(
  kernel: Kernel,
  leaf: Leaf,
  page: Page,
  body: Span,
  row: number,
  validity: Validity,
  scratch: Scratch,
): PageLevels {
  const { start, end, next } = levelSpan(leaf, page, body);
  const count = page.values;
  if (leaf.maxDefinition === 0 || kernel.full(start, end, count) === 1) {
    if (validity.isOpen) setBits(validity.map, row, row + count);
    return { at: next, present: count, flags: 0 };
  }
  const flags = takeRoom(scratch, count * 4);
  checked(kernel.hybrid(start, end, 1, flags, count));
  const present = checked(kernel.ones(flags, count));
  if (present < count && !validity.isOpen) {
    validity.isOpen = true;
    kernelBytes().fill(0, validity.map, validity.map + ((validity.rows + 7) >> 3));
    setBits(validity.map, 0, row);
  }
  if (validity.isOpen) kernel.bits(flags, count, validity.map, row);
  validity.nulls += count - present;
  return { at: next, present, flags };
}

function levelSpan(leaf: Leaf, page: Page, body: Span): Span & { readonly next: number } {
  if (page.kind === 'v2') {
    const start = body.start + page.repetitionBytes;
    const end = start + page.definitionBytes;
    return { start, end, next: end };
  }
  if (leaf.maxDefinition === 0) return { ...body, next: body.start };
  const start = body.start + 4;
  if (start > body.end) throw corrupt('level data ends early');
  const bytes = kernelBytes();
  const length = new DataView(bytes.buffer).getUint32(body.start, true);
  if (length > body.end - start) throw corrupt('level data ends early');
  return { start, end: start + length, next: start + length };
}

function setBits(map: number, from: number, to: number): void {
  const bytes = kernelBytes();
  let bit = from;
  for (; bit < to && (bit & 7) !== 0; bit++) bytes[map + (bit >> 3)]! |= 1 << (bit & 7);
  bytes.fill(255, map + (bit >> 3), map + (to >> 3));
  for (bit = Math.max(bit, to & ~7); bit < to; bit++) bytes[map + (bit >> 3)]! |= 1 << (bit & 7);
}
