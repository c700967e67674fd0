import type { DecodeJob } from '../scan/decode-task.js';
import type { FilesJob } from '../scan/file-task.js';
import type { EncodeTask, PackTask, SplitTask } from './tasks.js';

/** What worker threads can do: for each task its input and output, both plain data that can be sent between threads. */
export interface Tasks {
  readonly split: SplitTask;
  readonly encode: EncodeTask;
  readonly pack: PackTask;
  readonly decode: DecodeJob;
  readonly readFiles: FilesJob;
}

export type TaskName = keyof Tasks;
export type TaskInput<N extends TaskName> = Tasks[N]['input'];
export type TaskOutput<N extends TaskName> = Tasks[N]['output'];

/** A task's answer and the memory that goes to the other thread with it. */
export interface TaskResult<N extends TaskName> {
  readonly output: TaskOutput<N>;
  readonly transfer?: readonly ArrayBuffer[];
}

/** Main thread to worker. */
export interface TaskRequest {
  readonly id: number;
  readonly name: TaskName;
  readonly input: unknown;
}

/** Worker to main thread. `memory`: bytes that the worker's Parquet engine holds. `broken`: the worker must not be used again. */
export type TaskReply =
  | { readonly id: number; readonly output: unknown; readonly memory: number }
  | { readonly id: number; readonly error: SentError; readonly broken: boolean; readonly memory: number };

/** An error on its way between threads, which would lose its class. */
export interface SentError {
  readonly message: string;
  readonly stack?: string;
  readonly code?: string;
  readonly context?: Readonly<Record<string, unknown>>;
}
