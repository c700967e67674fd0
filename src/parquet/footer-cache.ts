import type { Context } from '../runtime/context.js';
import type { Footer } from './flat/footer.js';
import { readFooter } from './flat/read.js';
import type { PageIndex } from './page-index.js';
import type { FileSource } from './source.js';

/** Column chunks that the footers kept may describe together: some tens of megabytes. */
const MAX_CHUNKS = 100_000;
/** What else there is to a footer, in chunks: for files of a few rows that is most of it. */
const FILE_CHUNKS = 16;
/** So many bytes of page indexes weigh as much as a chunk. */
const CHUNK_BYTES = 256;

/** What a file says of itself besides its values. */
interface FileFacts {
  readonly footer: Footer;
  /** By row group and leaf. */
  readonly indexes: Map<number, KnownIndex>;
  weight: number;
}

interface KnownIndex {
  /** Undefined for a chunk whose index cannot be used. */
  readonly index: PageIndex | undefined;
  /** Whether its bounds were looked at too. */
  readonly withBounds: boolean;
}

/** Facts by file, the least recently used forgotten first. Data files never change, so that they are right for ever. */
class FooterCache {
  readonly #files = new Map<string, FileFacts>();
  #weight = 0;

  get(name: string): FileFacts | undefined {
    const facts = this.#files.get(name);
    if (facts !== undefined) {
      this.#files.delete(name);
      this.#files.set(name, facts);
    }
    return facts;
  }

  set(name: string, facts: FileFacts): void {
    if (this.#files.has(name)) return;
    this.#files.set(name, facts);
    this.#grow(facts.weight);
  }

  add(name: string, facts: FileFacts, weight: number): void {
    if (this.#files.get(name) !== facts) return;
    facts.weight += weight;
    this.#grow(weight);
  }

  #grow(weight: number): void {
    this.#weight += weight;
    for (const [oldest, old] of this.#files) {
      if (this.#weight <= MAX_CHUNKS) break;
      this.#files.delete(oldest);
      this.#weight -= old.weight;
    }
  }
}

const caches = new WeakMap<Context, FooterCache>();

function cacheOf(ctx: Context): FooterCache {
  const cache = caches.get(ctx) ?? new FooterCache();
  caches.set(ctx, cache);
  return cache;
}

/** The footer of a file, from the runtime's cache or the source. `name` is unique to the file, as that of a `StoreSource`. Throws `FlatFault`. */
export async function footerOf(ctx: Context, name: string, source: FileSource): Promise<Footer> {
  const cache = cacheOf(ctx);
  const known = cache.get(name);
  if (known !== undefined) return known.footer;
  const footer = await readFooter(source);
  const weight = FILE_CHUNKS + footer.leaves.length * (footer.rowGroups.length + 1);
  cache.set(name, { footer, indexes: new Map(), weight });
  return footer;
}

/** The page indexes known of a file. */
export interface PageIndexes {
  /** Undefined for a chunk whose index is not known or cannot be used. */
  get(rowGroup: number, leaf: number): PageIndex | undefined;
  /** Whether its index was looked at, and its bounds. */
  has(rowGroup: number, leaf: number, withBounds: boolean): boolean;
  /** Keeps an index of so many bytes, while the file's footer is kept. */
  set(rowGroup: number, leaf: number, known: KnownIndex, bytes: number): void;
}

/** The page indexes that the runtime's cache keeps beside a footer. */
export function pageIndexesOf(ctx: Context, name: string, footer: Footer): PageIndexes {
  const cache = cacheOf(ctx);
  const facts = cache.get(name) ?? { footer, indexes: new Map<number, KnownIndex>(), weight: 0 };
  const { indexes } = facts;
  const keyOf = (rowGroup: number, leaf: number): number => rowGroup * footer.leaves.length + leaf;
  return {
    get: (rowGroup, leaf) => indexes.get(keyOf(rowGroup, leaf))?.index,
    has: (rowGroup, leaf, withBounds) => {
      const known = indexes.get(keyOf(rowGroup, leaf));
      return known !== undefined && (known.withBounds || !withBounds);
    },
    set: (rowGroup, leaf, known, bytes) => {
      indexes.set(keyOf(rowGroup, leaf), known);
      cache.add(name, facts, Math.ceil(bytes / CHUNK_BYTES));
    },
  };
}
