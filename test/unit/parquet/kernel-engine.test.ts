import { afterEach, expect, it, vi } from 'vitest';

afterEach(() => vi.unstubAllGlobals());

it('the kernel is not there where it gets no memory', async () => {
  const { WebAssembly } = globalThis as unknown as { WebAssembly: object };
  const Memory = class {
    constructor() {
      throw new RangeError('could not allocate memory');
    }
  };
  vi.stubGlobal('WebAssembly', Object.create(WebAssembly, { Memory: { value: Memory } }));
  const { kernelMemory, openKernel } = await import('../../../src/parquet/kernel/engine.js');
  expect(openKernel()).toBeUndefined();
  expect(openKernel()).toBeUndefined();
  expect(kernelMemory()).toBe(0);
});
