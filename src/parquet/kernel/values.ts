import { ENCODING, isDictionaryCoded } from '../flat/encoding.js';
import { corrupt, unsupported } from '../flat/fault.js';
import { ensureMemory, type Kernel } from './engine.js';
import { checked, roomFor, type Scratch, type Span, takeRoom } from './place.js';

/** A column's place in the kernel's memory, and how much of it is there. */
export interface Target {
  /** How a slot is stored while the column is decoded: numbers of 4 or 8 bytes, bits, or text. */
  readonly form: 4 | 8 | 'bits' | 'text';
  /** Where the values begin. */
  readonly values: number;
  /** Where the offsets of text begin. */
  readonly offsets: number;
  /** Rows that are there. */
  row: number;
  /** Bytes of text that are there. */
  size: number;
}

/** A chunk's dictionary: values of 4 or 8 bytes, or where each text begins. */
export interface Dictionary {
  readonly table: number;
  readonly size: number;
}

/** What `readDictionary` takes of the scratch, the page itself left out. */
export function roomForDictionary(values: number): number {
  return roomFor(values * 4);
}

/** Reads a dictionary page, which stays in the scratch. */
export function readDictionary(
  kernel: Kernel,
  form: Target['form'],
  { start, end }: Span,
  size: number,
  scratch: Scratch,
): Dictionary {
  if (form === 'bits') throw unsupported('a dictionary of booleans');
  if (form !== 'text') {
    if (size * form > end - start) throw corrupt('a dictionary ends early');
    return { table: start, size };
  }
  if (size > end - start) throw corrupt('a dictionary ends early');
  const table = takeRoom(scratch, size * 4);
  checked(kernel.index(start, end, size, table));
  return { table, size };
}

/** What `readValues` takes of the scratch at the most. */
export function roomForValues(values: number): number {
  return 2 * roomFor(values * 4) + roomFor(8);
}

/**
 * Decodes the `count` values of a page, which stand in bytes [start, end), to the next slots of its target, one after another; bits as numbers into the
 * scratch, where it gives their address.
 */
export function readValues(
  kernel: Kernel,
  target: Target,
  encoding: number,
  span: Span,
  count: number,
  dictionary: Dictionary | undefined,
  scratch: Scratch,
): number {
  const { form } = target;
  if (form === 'bits') return readBits(kernel, encoding, span, count, scratch);
  if (count === 0) return 0;
  if (isDictionaryCoded(encoding)) {
    if (dictionary === undefined) throw corrupt('dictionary page missing');
    lookUp(kernel, target, span, count, dictionary, scratch);
  } else if (form === 'text') readTexts(kernel, target, encoding, span, count, scratch);
  else readNumbers(kernel, target, form, encoding, span, count, scratch);
  return 0;
}

/** Where the slot of the next row is, or the place of the end of its text. */
export function nextSlot({ form, values, offsets, row }: Target): number {
  if (form === 'text') return offsets + 4 * (row + 1);
  return form === 'bits' ? values : values + form * row;
}

function readBits(
  kernel: Kernel,
  encoding: number,
  { start, end }: Span,
  count: number,
  scratch: Scratch,
): number {
  const flags = takeRoom(scratch, count * 4);
  if (encoding === ENCODING.plain) {
    if ((count + 7) >> 3 > end - start) throw corrupt('booleans past the end of their page');
    kernel.unpack(start, 1, flags, count);
  } else if (encoding === ENCODING.rle) checked(kernel.hybrid(start + 4, end, 1, flags, count));
  else throw unsupported(`encoding ${encoding}`);
  return flags;
}

function lookUp(
  kernel: Kernel,
  target: Target,
  { start, end }: Span,
  count: number,
  { table, size }: Dictionary,
  scratch: Scratch,
): void {
  const codes = takeRoom(scratch, count * 4);
  checked(kernel.codes(start, end, codes, count));
  const slot = nextSlot(target);
  if (target.form === 'text') {
    ensureText(target, checked(kernel.measure(codes, count, table, size)));
    const { values } = target;
    target.size = kernel.gatherTexts(codes, count, table, slot, values + target.size, values) - values;
  } else if (target.form === 4) checked(kernel.gather4(codes, count, table, size, slot));
  else checked(kernel.gather8(codes, count, table, size, slot));
}

function readNumbers(
  kernel: Kernel,
  target: Target,
  width: 4 | 8,
  encoding: number,
  { start, end }: Span,
  count: number,
  scratch: Scratch,
): void {
  const slot = nextSlot(target);
  if (encoding === ENCODING.deltaBinaryPacked) {
    checked(kernel.deltas(start, end, count, slot, width, takeRoom(scratch, 8)));
    return;
  }
  if (count * width > end - start) throw corrupt('values past the end of their page');
  if (encoding === ENCODING.plain) kernel.move(slot, start, count * width);
  else if (encoding === ENCODING.byteStreamSplit) kernel.unsplit(start, count, width, slot);
  else throw unsupported(`encoding ${encoding}`);
}

function readTexts(
  kernel: Kernel,
  target: Target,
  encoding: number,
  { start, end }: Span,
  count: number,
  scratch: Scratch,
): void {
  const slot = nextSlot(target);
  const { values, size } = target;
  if (encoding === ENCODING.plain) {
    ensureText(target, end - start);
    target.size = checked(kernel.texts(start, end, count, slot, values + size, values)) - values;
    return;
  }
  const lengths = takeRoom(scratch, count * 4);
  const number = takeRoom(scratch, 8);
  const from = checked(kernel.deltas(start, end, count, lengths, 4, number));
  const total = checked(kernel.sum(lengths, count));
  if (encoding === ENCODING.deltaLengthByteArray) {
    if (total > end - from) throw corrupt('text past the end of its page');
    ensureText(target, total);
    kernel.move(values + size, from, total);
    kernel.endsOf(lengths, count, slot, size);
    target.size += total;
  } else if (encoding === ENCODING.deltaByteArray) {
    const suffixes = takeRoom(scratch, count * 4);
    const rest = checked(kernel.deltas(from, end, count, suffixes, 4, number));
    ensureText(target, total + checked(kernel.sum(suffixes, count)));
    const done = kernel.fronted(lengths, suffixes, count, rest, end, slot, values + size, values);
    target.size = checked(done) - values;
  } else throw unsupported(`encoding ${encoding}`);
}

/** Text is the last thing in memory while it grows. */
function ensureText({ values, size }: Target, bytes: number): void {
  ensureMemory(values + size + bytes);
}
