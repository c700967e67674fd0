import type { Context } from '../runtime/context.js';
import type { Footer } from './flat/footer.js';
import { readFooter } from './flat/read.js';
import type { FileSource } from './source.js';

/** Column chunks that the footers kept may describe together: some tens of megabytes. */
const MAX_CHUNKS = 200_000;

/** Footers by file, the least recently used forgotten first. Data files never change, so that a footer is right for ever. */
class FooterCache {
  readonly #footers = new Map<string, Footer>();
  #chunks = 0;

  get(name: string): Footer | undefined {
    const footer = this.#footers.get(name);
    if (footer !== undefined) {
      this.#footers.delete(name);
      this.#footers.set(name, footer);
    }
    return footer;
  }

  set(name: string, footer: Footer): void {
    if (this.#footers.has(name)) return;
    this.#footers.set(name, footer);
    this.#chunks += weightOf(footer);
    for (const [oldest, old] of this.#footers) {
      if (this.#chunks <= MAX_CHUNKS) break;
      this.#footers.delete(oldest);
      this.#chunks -= weightOf(old);
    }
  }
}

function weightOf(footer: Footer): number {
  return footer.leaves.length * (footer.rowGroups.length + 1);
}

const caches = new WeakMap<Context, FooterCache>();

/** The footer of a file, from the runtime's cache or the source. `name` is unique to the file: store, key and size. Throws `FlatFault`. */
export async function footerOf(ctx: Context, name: string, source: FileSource): Promise<Footer> {
  const cache = caches.get(ctx) ?? new FooterCache();
  caches.set(ctx, cache);
  const known = cache.get(name);
  if (known !== undefined) return known;
  const footer = await readFooter(source);
  cache.set(name, footer);
  return footer;
}
