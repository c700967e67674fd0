import type * as ParquetWasm from 'parquet-wasm/node';

export type { ParquetWasm };

let loading: Promise<typeof ParquetWasm> | undefined;
let loaded: typeof ParquetWasm | undefined;

/** The Parquet engine of this thread, compiled on the first call. Its memory grows and never shrinks while the thread lives. */
export function loadParquetWasm(): Promise<typeof ParquetWasm> {
  loading ??= import('parquet-wasm/node').then((engine) => {
    loaded = engine;
    return engine;
  });
  return loading;
}

/** Bytes that this thread's engine holds; 0 before it was loaded. */
export function parquetWasmMemory(): number {
  return loaded ? (loaded.wasmMemory() as unknown as WebAssemblyMemory).buffer.byteLength : 0;
}

/** True for an error after which the engine of this thread must not be used again: its stack and heap are in an unknown state. */
export function isWasmTrap(error: unknown): boolean {
  return error instanceof Error && error.name === 'RuntimeError';
}

interface WebAssemblyMemory {
  readonly buffer: ArrayBuffer;
}
