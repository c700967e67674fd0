import { FlatFault } from '../flat/fault.js';
import { kernelModule } from './module.js';
import { PAGE_ROUTINES } from './routines-pages.js';
import { VALUE_ROUTINES } from './routines-values.js';

/** What this file uses of WebAssembly. */
interface Memory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}
interface WebAssemblyApi {
  readonly Memory: new (limits: { initial: number; maximum: number }) => Memory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown };
  validate(bytes: Uint8Array): boolean;
}
const { WebAssembly } = globalThis as unknown as { readonly WebAssembly: WebAssemblyApi };

type Routine =
  | 'snappy'
  | 'unpack'
  | 'hybrid'
  | 'codes'
  | 'move'
  | 'full'
  | 'ones'
  | 'spread4'
  | 'spread8'
  | 'spreadEnds'
  | 'gather4'
  | 'gather8'
  | 'index'
  | 'measure'
  | 'gatherTexts'
  | 'texts'
  | 'deltas'
  | 'sum'
  | 'endsOf'
  | 'fronted'
  | 'unsplit'
  | 'bits'
  | 'narrow'
  | 'widen';

/** The routines by name: addresses and counts in, -1 for input that is not what it should be. */
export type Kernel = Readonly<Record<Routine, (...numbers: number[]) => number>>;

const PAGE = 1 << 16;
/** What one decoding may take. Beyond it the exact decoder, whose memory is given back, does the work. */
const MOST_BYTES = 256 << 20;
/** Routines read and write so far past what they are given. */
export const SLACK = 64;

let kernel: Kernel | undefined;
let memory: Memory;
let view = new Uint8Array(0);
let isMissing = false;

/** The routines of this thread, compiled with the first call: a matter of some milliseconds. Undefined where WebAssembly lacks SIMD or gets no memory. */
export function openKernel(): Kernel | undefined {
  if (kernel !== undefined || isMissing) return kernel;
  const module = kernelModule(PAGE_ROUTINES + VALUE_ROUTINES);
  isMissing = WebAssembly === undefined || !WebAssembly.validate(module);
  if (isMissing) return undefined;
  try {
    memory = new WebAssembly.Memory({ initial: 1, maximum: MOST_BYTES / PAGE });
  } catch (error) {
    // A process that may not have much address space.
    if (!(error instanceof RangeError)) throw error;
    isMissing = true;
    return undefined;
  }
  kernel = new WebAssembly.Instance(new WebAssembly.Module(module), { host: { memory } }).exports as Kernel;
  return kernel;
}

/** Bytes that the kernel of this thread holds; they are never given back while it lives. */
export function kernelMemory(): number {
  return memory?.buffer.byteLength ?? 0;
}

/** The kernel's memory; good until `ensureMemory` is called. */
export function kernelBytes(): Uint8Array {
  if (view.buffer !== memory.buffer) view = new Uint8Array(memory.buffer);
  return view;
}

/** Makes the memory reach to `end` and the slack behind it. Throws `FlatFault`. */
export function ensureMemory(end: number): void {
  const wanted = end + SLACK;
  const held = memory.buffer.byteLength;
  if (wanted <= held) return;
  if (wanted > MOST_BYTES) throw new FlatFault('limit', 'more memory than the kernel may have');
  const grown = Math.min(MOST_BYTES, Math.max(wanted, held + (held >> 2)));
  memory.grow(Math.ceil((grown - held) / PAGE));
}
