import { compileRoutines, type KernelType, type Routine } from './compile.js';

const TYPES: Readonly<Record<KernelType, number>> = { i32: 0x7f, i64: 0x7e, v128: 0x7b };

/** A kernel source as a WebAssembly module (WebAssembly Core Specification: Binary Format). It exports every routine and imports `host.memory`. */
export function kernelModule(source: string): Uint8Array<ArrayBuffer> {
  const routines = compileRoutines(source);
  const indices = routines.map((_, i) => unsigned(i));
  return Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, routines.map(signature)),
    ...section(2, [[...text('host'), ...text('memory'), 2, 0, 1]]),
    ...section(3, indices),
    ...section(
      7,
      routines.map(({ name }, i) => [...text(name), 0, ...indices[i]!]),
    ),
    ...section(10, routines.map(body)),
  ]);
}

function signature({ parameters }: Routine): number[] {
  return [0x60, ...vector(parameters.map((type) => [TYPES[type]])), 1, TYPES.i32];
}

function body({ locals, code }: Routine): number[] {
  const bytes = vector(locals.map((type) => [1, TYPES[type]])).concat(code, 0x0b);
  return unsigned(bytes.length).concat(bytes);
}

function section(id: number, items: readonly (readonly number[])[]): number[] {
  const content = vector(items);
  return [id].concat(unsigned(content.length), content);
}

function vector(items: readonly (readonly number[])[]): number[] {
  return unsigned(items.length).concat(...items);
}

function text(ascii: string): number[] {
  return [...unsigned(ascii.length), ...Array.from(ascii, (letter) => letter.charCodeAt(0))];
}

/** LEB128. */
export function unsigned(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return [...bytes, rest];
    bytes.push((rest & 0x7f) | 0x80);
  }
}

/** LEB128 of a 32-bit number with its sign. */
export function signed(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>= 7) {
    if (rest >= -64 && rest < 64) return [...bytes, rest & 0x7f];
    bytes.push((rest & 0x7f) | 0x80);
  }
}
