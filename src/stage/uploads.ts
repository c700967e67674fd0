import type { Context } from '../runtime/context.js';
import type { Store } from '../store/store.js';
import { fileKey, type Part, storeFile } from './files.js';
import type { Memory } from './memory.js';
import type { Partition } from './partition-rows.js';
import type { planStage, StageSpec } from './plan.js';
import type { StagedFile } from './staged.js';
import type { Work } from './work.js';

/** Files that are stored at a time. */
const SIDE_BY_SIDE = 8;

/** The files of one write on their way to the store. */
export class Uploads {
  readonly #store: Store;
  readonly #ctx: Context;
  readonly #plan: ReturnType<typeof planStage>;
  readonly #spec: StageSpec;
  readonly #work: Work;
  readonly #memory: Memory;
  readonly #keys: string[] = [];
  /** Those of one partition are begun in the order of their rows, so that their numbers rise. */
  readonly #files: { readonly partition: number; readonly number: number; readonly file: StagedFile }[] = [];
  #active = 0;
  #waiting = 0;

  constructor(
    store: Store,
    ctx: Context,
    plan: ReturnType<typeof planStage>,
    spec: StageSpec,
    work: Work,
    memory: Memory,
  ) {
    this.#store = store;
    this.#ctx = ctx;
    this.#plan = plan;
    this.#spec = spec;
    this.#work = work;
    this.#memory = memory;
  }

  /** By partition, in order of first appearance, and for each in the order of their rows. */
  get files(): StagedFile[] {
    return this.#files
      .sort((a, b) => a.partition - b.partition || a.number - b.number)
      .map(({ file }) => file);
  }

  /** Resolves when the store keeps up with the files that are ready. */
  async keepUp(): Promise<void> {
    while (this.#waiting > 0) {
      await this.#work.progress();
      this.#work.check();
    }
  }

  /** Begins to store a file of these parts; resolves when it has its turn. */
  async begin({ raws, index }: Partition, parts: readonly Part[]): Promise<void> {
    this.#waiting++;
    while (this.#active >= SIDE_BY_SIDE) {
      await this.#work.progress();
      this.#work.check();
    }
    this.#waiting--;
    this.#active++;
    void this.#work.track(this.#send(raws, index, parts));
  }

  async #send(raws: readonly (string | null)[], partition: number, parts: readonly Part[]): Promise<void> {
    const number = this.#keys.length;
    const where = { names: this.#plan.names, raws, folder: this.#spec.dataFolder, number };
    const key = fileKey(where, this.#ctx.ids.uuid());
    this.#keys.push(key);
    try {
      const file = await storeFile(this.#store, this.#ctx, this.#plan, where, key, parts, this.#work.signal);
      this.#files.push({ partition, number, file });
      this.#ctx.emit({ type: 'fileStaged', path: file.path, rows: file.rows, bytes: file.size });
    } finally {
      this.#active--;
      for (const { bytes } of parts) if (bytes instanceof Uint8Array) this.#memory.encoded -= bytes.length;
    }
  }

  /** Deletes what was or may have been stored, as well as it can be. */
  async discard(): Promise<void> {
    await Promise.all(
      this.#keys.map(async (key) => {
        try {
          await this.#store.delete(key);
        } catch (error) {
          const message = `A staged file could not be deleted: ${String(error)}`;
          this.#ctx.emit({ type: 'warning', message, file: key });
        }
      }),
    );
  }
}
