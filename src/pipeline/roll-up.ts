import { isTableError } from '../errors.js';
import type { TableContext } from '../runtime/table-context.js';
import type { CommittedNote } from './facts.js';
import { sorted } from './ledger.js';
import { folderOf, noteOf } from './notes.js';

/** The first line of a roll-up: what coverage asks of every run, a list a fact. Instants in seconds since the Unix epoch. */
interface Head {
  readonly start: readonly number[];
  readonly end: readonly number[];
  readonly attempt: readonly number[];
  readonly rows: readonly number[];
  /** Positions of runs that are an undo. */
  readonly undone: readonly number[];
  /** Bytes of each line that follows, its end included. */
  readonly length: readonly number[];
}

const NEW_LINE = 10;
const EMPTY: Head = { start: [], end: [], attempt: [], rows: [], undone: [], length: [] };

/**
 * The notes of many runs in one object, in the order of time: a line that says where what is, and a line for each note. Notes are parsed when they are asked
 * for, which is what half a million of them need.
 */
export class RollUp {
  readonly starts: Float64Array;
  readonly ends: Float64Array;
  readonly #head: Head;
  readonly #lines: Uint8Array;
  /** Where each line starts, and where the last ends. */
  readonly #offsets: Float64Array;
  readonly #undone: ReadonlySet<number>;

  private constructor(head: Head, lines: Uint8Array) {
    this.#head = head;
    this.#lines = lines;
    this.#undone = new Set(head.undone);
    this.starts = Float64Array.from(head.start, (seconds) => seconds * 1000);
    this.ends = Float64Array.from(head.end, (seconds) => seconds * 1000);
    this.#offsets = new Float64Array(head.length.length + 1);
    head.length.forEach((length, i) => {
      this.#offsets[i + 1] = this.#offsets[i]! + length;
    });
  }

  /** Of no runs where the bytes are torn: what is lost is read elsewhere. */
  static of(bytes: Uint8Array): RollUp {
    const end = bytes.indexOf(NEW_LINE);
    try {
      const head = JSON.parse(new TextDecoder().decode(bytes.subarray(0, Math.max(0, end)))) as Head;
      const rollUp = new RollUp(head, bytes.subarray(end + 1));
      if (rollUp.#isWhole()) return rollUp;
    } catch {
      // As good as lost.
    }
    return new RollUp(EMPTY, new Uint8Array(0));
  }

  get size(): number {
    return this.starts.length;
  }
  attempt(at: number): number {
    return this.#head.attempt[at]!;
  }
  rows(at: number): number {
    return this.#head.rows[at]!;
  }
  isUndo(at: number): boolean {
    return this.#undone.has(at);
  }
  note(at: number): CommittedNote | undefined {
    const note = noteOf(this.#line(at));
    return note?.status === 'committed' ? note : undefined;
  }

  /** The bytes of a roll-up of these notes and of the runs of this one for which `isKept`. */
  bytesWith(notes: readonly CommittedNote[], isKept: (at: number) => boolean): Uint8Array[] {
    const kept = Array.from(this.starts.keys()).filter(isKept);
    const starts = [...kept.map((at) => this.starts[at]!), ...notes.map(({ start }) => Date.parse(start))];
    const ends = [...kept.map((at) => this.ends[at]!), ...notes.map(({ end }) => Date.parse(end))];
    const lines = [
      ...kept.map((at) => this.#line(at)),
      ...notes.map((note) => new TextEncoder().encode(`${JSON.stringify(note)}\n`)),
    ];
    const noteAt = (i: number): CommittedNote | undefined => notes[i - kept.length];
    const order = Array.from(sorted(starts, ends) ?? starts.keys());
    const head: Head = {
      start: order.map((i) => starts[i]! / 1000),
      end: order.map((i) => ends[i]! / 1000),
      attempt: order.map((i) => noteAt(i)?.attempt ?? this.attempt(kept[i]!)),
      rows: order.map((i) => noteAt(i)?.rows ?? this.rows(kept[i]!)),
      undone: order.flatMap((i, place) => {
        const note = noteAt(i);
        return (note ? note.mode === 'undo' : this.isUndo(kept[i]!)) ? [place] : [];
      }),
      length: order.map((i) => lines[i]!.byteLength),
    };
    return [new TextEncoder().encode(`${JSON.stringify(head)}\n`), ...order.map((i) => lines[i]!)];
  }

  #line(at: number): Uint8Array {
    return this.#lines.subarray(this.#offsets[at]!, this.#offsets[at + 1]!);
  }

  #isWhole(): boolean {
    const { start, end, attempt, rows, length } = this.#head;
    const isAligned = [end, attempt, rows, length].every((column) => column.length === start.length);
    return isAligned && this.#offsets.at(-1) === this.#lines.byteLength;
  }
}

/** The roll-up of a pipeline; of no runs where there is none. */
export async function readRollUp(table: TableContext, pipeline: string): Promise<RollUp> {
  try {
    return RollUp.of(await table.store.get(rollUpKey(pipeline)));
  } catch (error) {
    if (!isTableError(error, 'NOT_FOUND')) throw error;
    return RollUp.of(new Uint8Array(0));
  }
}

/** Writes a roll-up as `bytesWith` gives it. It is no authority, so that a failure is only told. */
export async function writeRollUp(
  table: TableContext,
  pipeline: string,
  pieces: readonly Uint8Array[],
): Promise<void> {
  const key = rollUpKey(pipeline);
  try {
    await table.store.put(key, Buffer.concat(pieces));
  } catch (error) {
    table.ctx.emit({
      type: 'warning',
      message: `The roll-up of runs could not be written: ${String(error)}`,
      file: key,
    });
  }
}

function rollUpKey(pipeline: string): string {
  return `${folderOf(pipeline)}rollup.jsonl`;
}
