// @ts-check
import { execFileSync, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const HERE = fileURLToPath(new URL('.', import.meta.url));
/** @type {string | undefined} */
let interpreter;

/** The Python of the suite's own virtual environment, which is made where it is missing. */
export function python() {
  interpreter ??= execFileSync(`${HERE}../test/support/engines/venv.sh`, {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  }).trim();
  return interpreter;
}

/** Makes what is missing of the data. @param {string} folder @param {string} reference */
export function makeData(folder, reference) {
  execFileSync(python(), [`${HERE}data.py`, folder, reference], { stdio: ['ignore', 'inherit', 'inherit'] });
}

/** A process that answers one JSON request a line, in order. */
export class Worker {
  #child;
  /** @type {((answer: string | undefined) => void)[]} */
  #waiting = [];
  #ended = false;

  /** @param {string} command @param {string[]} args @param {Record<string, string>} [env] */
  constructor(command, args, env = {}) {
    this.#child = spawn(command, args, {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1', ...env },
    });
    createInterface({ input: /** @type {import('node:stream').Readable} */ (this.#child.stdout) }).on(
      'line',
      (line) => this.#waiting.shift()?.(line),
    );
    this.#child.on('exit', () => {
      this.#ended = true;
      for (const answer of this.#waiting) answer(undefined);
      this.#waiting = [];
    });
    this.#child.stdin?.on('error', () => {});
  }

  /** @param {string} op @param {object} [args] @returns {Promise<any>} */
  async ask(op, args = {}) {
    if (this.#ended) throw new Error(`the process ended before ${op}`);
    const answer = new Promise((resolve) => this.#waiting.push(resolve));
    this.#child.stdin?.write(`${JSON.stringify({ op, args })}\n`);
    const line = await answer;
    if (line === undefined) throw new Error(`the process ended during ${op}`);
    const { result, error } = JSON.parse(line);
    if (error !== undefined) throw new Error(`${op}: ${error}`);
    return result;
  }

  /** Ends the process after its last answer. */
  async stop() {
    if (this.#ended) return;
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.stdin?.end();
    await ended;
  }
}

export const newOurs = () => new Worker(process.execPath, [`${HERE}ours.js`]);
export const newPeer = () => new Worker(python(), ['-u', `${HERE}peer.py`]);
