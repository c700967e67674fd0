import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { type ErrorCode, TableError } from '../errors.js';
import type { Context } from '../runtime/context.js';
import { Slabs } from './memory.js';
import type { SentError, TaskInput, TaskName, TaskOutput, TaskReply, TaskRequest } from './protocol.js';

export interface PoolOptions {
  /** Worker threads; default the machine's cores, at most 4. They start when there is work for them. */
  readonly workers?: number;
  /** Bytes that the rows of one write may take in memory; default 192 MiB. */
  readonly memory?: number;
  /** A worker whose Parquet engine holds more bytes than this after a task is replaced; default 512 MiB. */
  readonly maxWorkerMemory?: number;
}

export interface RunOptions {
  readonly transfer?: readonly ArrayBuffer[];
  /** A task that waits is dropped when it fires; one that runs is waited for, then `ABORTED` is thrown. */
  readonly signal?: AbortSignal;
}

const DEFAULT_MEMORY = 192 * 2 ** 20;

interface Job {
  readonly id: number;
  readonly name: TaskName;
  readonly input: () => unknown;
  readonly options: RunOptions;
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: unknown) => void;
  failures: number;
}

interface Seat {
  readonly worker: Worker;
  job: Job | undefined;
}

/** Worker threads cannot load TypeScript: under a runner that loads the sources, the built files stand in. */
const WORKER = import.meta.url.endsWith('.ts')
  ? new URL('../../dist/stage/worker.js', import.meta.url)
  : new URL('./worker.js', import.meta.url);

/**
 * Worker threads shared by everything that a runtime does. They start with the first work, keep the process alive only while they work, and are replaced
 * when their Parquet engine failed (the task is then tried once more) or has grown beyond its bound. A task that breaks two workers is `OUT_OF_MEMORY`
 * where memory was the reason, else `INTERNAL`. After `close` every call is `CLOSED`.
 */
export class Pool {
  readonly size: number;
  /** Bytes that the rows of one write may take in memory. */
  readonly memory: number;
  /** Memory that threads share, kept for use by the next. */
  readonly slabs = new Slabs();
  readonly #maxWorkerMemory: number;
  readonly #ctx: Pick<Context, 'emit'>;
  readonly #seats = new Set<Seat>();
  readonly #waiting: Job[] = [];
  #nextId = 1;
  #closed = false;

  constructor(ctx: Pick<Context, 'emit'>, options: PoolOptions = {}) {
    this.#ctx = ctx;
    this.size = Math.max(1, options.workers ?? Math.min(4, availableParallelism()));
    this.memory = options.memory ?? DEFAULT_MEMORY;
    this.#maxWorkerMemory = options.maxWorkerMemory ?? 512 * 2 ** 20;
  }

  /**
   * Runs a task in the first worker that is free. Memory in `transfer` is gone for the caller: then `input` must be a function that makes the input
   * anew, since the task may be tried twice.
   */
  run<N extends TaskName>(
    name: N,
    input: TaskInput<N> | (() => TaskInput<N>),
    options: RunOptions = {},
  ): Promise<TaskOutput<N>> {
    return new Promise<unknown>((resolve, reject) => {
      if (this.#closed) return reject(closedError());
      if (options.signal?.aborted) return reject(abortedError(options.signal));
      const make = typeof input === 'function' ? (input as () => unknown) : () => input;
      this.#waiting.push({ id: this.#nextId++, name, input: make, options, resolve, reject, failures: 0 });
      this.#dispatch();
    }) as Promise<TaskOutput<N>>;
  }

  /** Ends the workers; what runs or waits is rejected with `CLOSED`. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const job of this.#waiting.splice(0)) job.reject(closedError());
    const seats = [...this.#seats];
    this.#seats.clear();
    for (const seat of seats) seat.job?.reject(closedError());
    await Promise.all(seats.map(({ worker }) => worker.terminate()));
  }

  #dispatch(): void {
    while (this.#waiting.length > 0) {
      const seat = this.#freeSeat();
      if (!seat) return;
      const job = this.#waiting.shift()!;
      if (job.options.signal?.aborted) {
        job.reject(abortedError(job.options.signal));
        continue;
      }
      seat.job = job;
      seat.worker.ref();
      try {
        const request: TaskRequest = { id: job.id, name: job.name, input: job.input() };
        seat.worker.postMessage(request, (job.options.transfer ?? []) as ArrayBuffer[]);
      } catch (error) {
        this.#settle(seat, () => job.reject(error));
      }
    }
  }

  /** A worker that has worked before is preferred: its engine is warm. */
  #freeSeat(): Seat | undefined {
    for (const seat of this.#seats) if (!seat.job) return seat;
    return this.#seats.size < this.size ? this.#start() : undefined;
  }

  #start(): Seat {
    const worker = new Worker(WORKER, { execArgv: [], name: 'intervale' });
    const seat: Seat = { worker, job: undefined };
    this.#seats.add(seat);
    worker.unref();
    worker.on('message', (reply: TaskReply) => this.#answered(seat, reply));
    worker.on('error', (error) => this.#broke(seat, { message: error.message, stack: error.stack }));
    worker.on('exit', (code) => this.#broke(seat, { message: `The worker thread ended with code ${code}.` }));
    return seat;
  }

  #answered(seat: Seat, reply: TaskReply): void {
    const { job } = seat;
    if (job?.id !== reply.id) return;
    if ('error' in reply && reply.broken) {
      this.#broke(seat, reply.error);
      return;
    }
    const signal = job.options.signal;
    this.#settle(seat, () => {
      if ('error' in reply) job.reject(received(reply.error));
      else if (signal?.aborted) job.reject(abortedError(signal));
      else job.resolve(reply.output);
    });
    if (reply.memory > this.#maxWorkerMemory) {
      this.#remove(seat);
      this.#ctx.emit({ type: 'workerReplaced', reason: 'memory' });
    }
    this.#dispatch();
  }

  #broke(seat: Seat, error: SentError): void {
    if (!this.#seats.has(seat)) return;
    const { job } = seat;
    this.#remove(seat);
    this.#ctx.emit({ type: 'workerReplaced', reason: 'trap' });
    if (job) {
      if (job.failures === 0 && !job.options.signal?.aborted) this.#waiting.unshift({ ...job, failures: 1 });
      else job.reject(brokenError(job, error));
    }
    this.#dispatch();
  }

  #remove(seat: Seat): void {
    this.#seats.delete(seat);
    seat.job = undefined;
    void seat.worker.terminate();
  }

  #settle(seat: Seat, settle: () => void): void {
    seat.job = undefined;
    seat.worker.unref();
    settle();
  }
}

function received({ message, code, context, stack }: SentError): Error {
  if (code !== undefined) return new TableError(code as ErrorCode, message, context);
  return new TableError('INTERNAL', `A worker thread failed: ${message}`, { stack });
}

function brokenError({ name }: Job, { message, stack }: SentError): TableError {
  const memory = /memory|alloc|array buffer/i.test(message);
  return new TableError(
    memory ? 'OUT_OF_MEMORY' : 'INTERNAL',
    `The task '${name}' ended two worker threads, the second with: ${message}. Write smaller batches or files (delta.targetFileSize).`,
    { task: name, stack },
  );
}

function closedError(): TableError {
  return new TableError('CLOSED', 'The runtime was closed; make a new one.');
}

function abortedError(signal: AbortSignal): TableError {
  return new TableError('ABORTED', 'The operation was aborted by its signal.', {}, signal.reason);
}
