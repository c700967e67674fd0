import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, openSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '../../../src/schema/types.js';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const LOG_FOLDER = fileURLToPath(new URL('../../../.cache/interop/', import.meta.url));

/** What an engine says of a table: its version, its schema as in `metaData.schemaString`, and rows in the canonical encoding, unsorted. */
export interface EngineRead {
  readonly version?: number;
  readonly schema: JsonObject;
  readonly lines: readonly string[];
}

type Storage = Readonly<Record<string, string>>;

export interface EngineWrite {
  readonly url: string;
  readonly schema: JsonObject;
  readonly lines: readonly string[];
  readonly mode?: 'append' | 'overwrite' | 'error';
  readonly partitionBy?: readonly string[];
}

/** A column of a table that Spark makes by its builder. */
export interface BuiltColumn {
  readonly name: string;
  readonly type: string;
  /** The expression it is always computed by. */
  readonly generated?: string;
  readonly identity?: boolean;
}

/** Live files as the log names them, for the readers that know plain Parquet alone. */
export interface PlainFiles {
  /** The table's folder. */
  readonly root: string;
  readonly schema: JsonObject;
  readonly partitionColumns: readonly string[];
  readonly files: readonly {
    readonly path: string;
    readonly partitionValues: Readonly<Record<string, string | null>>;
  }[];
}

/** The operations of the engines that answer in `server.py`, with the types of their arguments and answers. */
export interface Operations {
  'deltars.describe': [
    { url: string; version?: number; storage?: Storage },
    JsonObject & { version: number },
  ];
  'deltars.read': [
    { url: string; version?: number; columns?: readonly string[]; predicate?: string; storage?: Storage },
    EngineRead & { version: number },
  ];
  'deltars.files': [{ url: string; version?: number; storage?: Storage }, readonly JsonObject[]];
  'deltars.write': [
    EngineWrite & {
      predicate?: string;
      configuration?: Readonly<Record<string, string>>;
      checkpoint?: boolean;
      storage?: Storage;
    },
    number,
  ];
  'deltars.checkpoint': [{ url: string; storage?: Storage }, number];
  'deltars.cleanup': [{ url: string; storage?: Storage }, null];
  'deltars.vacuum': [{ url: string; hours?: number; storage?: Storage }, readonly string[]];
  'deltars.optimize': [{ url: string; storage?: Storage }, number];
  'deltars.delete': [{ url: string; predicate?: string; storage?: Storage }, number];
  'deltars.history': [{ url: string; limit?: number; storage?: Storage }, readonly JsonObject[]];
  'deltars.transactionVersion': [{ url: string; appId: string; storage?: Storage }, number | null];
  'spark.create': [{ url: string; columns: readonly BuiltColumn[]; partitionBy: readonly string[] }, null];
  'spark.read': [{ url: string; version?: number; where?: string }, EngineRead];
  'spark.write': [EngineWrite & { options?: Readonly<Record<string, string>> }, number];
  'spark.sql': [{ text: string; settings?: Readonly<Record<string, string>> }, readonly JsonObject[]];
  'spark.version': [{ url: string }, number];
  'spark.history': [{ url: string; limit?: number }, readonly JsonObject[]];
  'spark.detail': [{ url: string }, JsonObject];
  'spark.checkpoint': [{ url: string }, null];
  'twins.play': [
    { tables: readonly { url: string; steps: readonly (readonly JsonObject[])[] }[] },
    readonly { versions: readonly number[]; step?: number; error?: string }[],
  ];
  'twins.read': [
    { tables: readonly { url: string; versions: readonly number[] }[] },
    readonly (readonly (readonly string[])[])[],
  ];
  'deltatwins.play': [
    {
      url: string;
      schema: JsonObject;
      partitionBy: readonly string[];
      steps: readonly (readonly JsonObject[])[];
    },
    { lines: readonly (readonly string[])[]; step?: number; error?: string },
  ];
  'deltatwins.read': [{ url: string; versions: readonly number[] }, readonly (readonly string[])[]];
  'files.duckdb': [PlainFiles, readonly string[]];
  'files.pyarrow': [PlainFiles, readonly string[]];
  'files.describe': [{ path: string }, JsonObject];
  'files.write': [
    { path: string; schema: JsonObject; lines: readonly string[]; options: Record<string, unknown> },
    number,
  ];
  'airflow.start': [Record<string, never>, null];
  'airflow.command': [{ argv: readonly string[] }, null];
  'airflow.runs': [{ dag: string }, readonly AirflowRun[]];
  'airflow.stop': [Record<string, never>, null];
}

/** A run of a DAG of one task. */
export interface AirflowRun {
  readonly start: string;
  readonly end: string;
  readonly state: string;
  /** What had it run: `scheduled` or `backfill`. */
  readonly type: string;
  readonly tries: number;
}

/** A file of pins and the folder of its virtual environment, from the project's root. */
export type Environment = readonly [requirements: string, folder: string];
const DATA_ENGINES: Environment = ['test/interop/requirements.txt', '.venv-interop'];
export const AIRFLOW: Environment = ['test/interop/requirements-airflow.txt', '.cache/airflow'];

/** The Python of a virtual environment, which is made where it is missing: that takes a minute. */
export function pythonOf(environment: Environment): string {
  return execFileSync(`${HERE}venv.sh`, environment, {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  }).trim();
}

interface StartOptions {
  /** By default that of Spark and delta-rs. */
  readonly environment?: Environment;
  readonly env?: Readonly<Record<string, string>>;
  readonly log?: string;
}

interface Pending {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** The other engines in a child process. Requests are answered in order; it ends when the process that started it does. */
export class Engines {
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, Pending>();
  #last = 0;
  #ended: string | undefined;

  private constructor(child: ChildProcess, log: string) {
    this.#child = child;
    createInterface({ input: child.stdout!, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) =>
      this.#answer(line),
    );
    // The process of the tests need not wait for this one: it ends when its input does.
    child.unref();
    child.on('exit', (code, signal) =>
      this.#fail(`the engines' process ended (${signal ?? code}); see ${LOG_FOLDER}${log}`),
    );
    child.stdin!.on('error', () => {});
  }

  /** Makes the virtual environment where it is missing, which takes a minute, and starts the process. What the engines print goes to a log in `.cache/interop`. */
  static start({
    environment = DATA_ENGINES,
    env = {},
    log: name = 'engines.log',
  }: StartOptions = {}): Engines {
    const python = pythonOf(environment);
    mkdirSync(LOG_FOLDER, { recursive: true });
    const log = openSync(`${LOG_FOLDER}${name}`, 'w');
    const child = spawn(python, ['-u', `${HERE}server.py`], {
      stdio: ['pipe', 'pipe', log],
      env: { ...process.env, TZ: 'America/Los_Angeles', PYTHONDONTWRITEBYTECODE: '1', ...env },
    });
    return new Engines(child, name);
  }

  /** Rejects with the engine's own message. */
  ask<Name extends keyof Operations>(name: Name, args: Operations[Name][0]): Promise<Operations[Name][1]> {
    if (this.#ended !== undefined) return Promise.reject(new Error(this.#ended));
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve: (result) => resolve(result as Operations[Name][1]), reject });
      this.#child.stdin!.write(`${JSON.stringify({ id, op: name, args })}\n`);
    });
  }

  /** Ends the process, whose last request has been answered. */
  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.stdin!.end();
    await ended;
  }

  #answer(line: string): void {
    const { id, result, error } = JSON.parse(line) as { id: number; result?: unknown; error?: string };
    const pending = this.#pending.get(id)!;
    this.#pending.delete(id);
    if (error === undefined) pending.resolve(result);
    else pending.reject(new Error(error));
  }

  #fail(message: string): void {
    this.#ended = message;
    for (const pending of this.#pending.values()) pending.reject(new Error(message));
    this.#pending.clear();
  }
}
