import { parentPort, type Transferable } from 'node:worker_threads';
import { isTableError } from '../errors.js';
import { kernelMemory } from '../parquet/kernel/engine.js';
import { isWasmTrap, parquetWasmMemory } from '../parquet/wasm.js';
import type { SentError, TaskInput, TaskName, TaskReply, TaskRequest, TaskResult } from './protocol.js';

/** The entry point of a worker thread: one task after the other, each answered once. Code is loaded with the first task that needs it. */
type Handlers = {
  readonly [N in TaskName]: () => Promise<(input: TaskInput<N>) => TaskResult<N> | Promise<TaskResult<N>>>;
};

const HANDLERS: Handlers = {
  split: async () => (await import('./tasks.js')).split,
  encode: async () => (await import('./tasks.js')).encode,
  pack: async () => (await import('./tasks.js')).pack,
  decode: async () => (await import('../scan/decode-task.js')).decode,
  readFiles: async () => (await import('../scan/file-task.js')).readFiles,
};

parentPort!.on('message', ({ id, name, input }: TaskRequest) => {
  void answer(id, name, input);
});

async function answer(id: number, name: TaskName, input: unknown): Promise<void> {
  try {
    const handle = (await HANDLERS[name]()) as (
      input: unknown,
    ) => TaskResult<TaskName> | Promise<TaskResult<TaskName>>;
    const { output, transfer = [] } = await handle(input);
    reply({ id, output, memory: engineMemory() }, transfer as ArrayBuffer[]);
  } catch (error) {
    const broken = isWasmTrap(error) || error instanceof RangeError;
    reply({ id, error: sendable(error), broken, memory: engineMemory() }, []);
  }
}

/** Bytes that the engines of this thread hold. */
function engineMemory(): number {
  return parquetWasmMemory() + kernelMemory();
}

function reply(message: TaskReply, transfer: readonly Transferable[]): void {
  parentPort!.postMessage(message, transfer);
}

function sendable(error: unknown): SentError {
  if (isTableError(error)) {
    return {
      message: error.message,
      stack: error.stack,
      code: error.code,
      context: JSON.parse(JSON.stringify(error.context)),
    };
  }
  return error instanceof Error ? { message: error.message, stack: error.stack } : { message: String(error) };
}
