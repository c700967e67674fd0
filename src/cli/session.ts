import type { RuntimeEvent } from '../runtime/events.js';
import type { Runtime } from '../runtime/runtime.js';
import type { StoreFlags } from './options.js';
import { type Paint, paintFor, type Terminal, writeTo } from './terminal.js';

/** What a command is given: where to print, when to stop, and the library's runtime. */
export interface Session {
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  /** For standard output. */
  readonly paint: Paint;
  /** For standard error. */
  readonly paintTalk: Paint;
  /** The runtime with the options of the command line; loaded when it is first asked for. */
  runtime(): Promise<Runtime>;
  /** Hears of what the runtime does from now on. */
  listen(listener: (event: RuntimeEvent) => void): void;
  /** Data, to standard output. */
  print(text: string | Uint8Array): Promise<void>;
  /** One JSON document, to standard output. */
  printJson(document: unknown): Promise<void>;
  /** Words for people, to standard error. */
  talk(text: string): void;
  close(): Promise<void>;
}

/** A session on a terminal. `flags` are the options that say how the store is reached. */
export function openSession(terminal: Terminal, signal: AbortSignal, flags: StoreFlags): Session {
  const listeners: ((event: RuntimeEvent) => void)[] = [];
  const paintTalk = paintFor(terminal.stderr, terminal.env);
  let runtime: Promise<Runtime> | undefined;
  const talk = (text: string): void => {
    terminal.stderr.write(`${text}\n`);
  };
  const hear = (event: RuntimeEvent): void => {
    for (const listener of listeners) listener(event);
    if (event.type === 'warning')
      talk(`${paintTalk('yellow', 'warning:')} ${event.message}${event.file ? ` (${event.file})` : ''}`);
    if (event.type === 'checkpointFailed')
      talk(
        `${paintTalk('yellow', 'warning:')} the checkpoint of version ${event.version} could not be written: ${String(event.error)}`,
      );
  };
  return {
    terminal,
    signal,
    paint: paintFor(terminal.stdout, terminal.env),
    paintTalk,
    runtime() {
      runtime ??= Promise.all([import('../runtime/runtime.js'), import('./options.js')]).then(
        ([{ createRuntime }, { runtimeOptions }]) =>
          createRuntime({ ...runtimeOptions(flags), onEvent: hear }),
      );
      return runtime;
    },
    listen: (listener) => {
      listeners.push(listener);
    },
    print: (text) => writeTo(terminal.stdout, text),
    async printJson(document) {
      const { jsonText } = await import('./render/json.js');
      await writeTo(terminal.stdout, `${jsonText(document)}\n`);
    },
    talk,
    async close() {
      await (await runtime)?.close();
    },
  };
}
