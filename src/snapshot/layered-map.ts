/** Entries that the upper layer may hold before both become one map. */
const LAYER = 256;

/**
 * A read-only map that derives a changed copy without copying all of it: a large shared layer under a small one. Iteration goes through the lower layer's keys,
 * then those that only the upper has.
 */
export class LayeredMap<V> implements ReadonlyMap<string, V> {
  readonly #lower: ReadonlyMap<string, V>;
  /** Undefined marks a removed key. */
  readonly #upper: ReadonlyMap<string, V | undefined>;
  readonly size: number;

  private constructor(lower: ReadonlyMap<string, V>, upper: ReadonlyMap<string, V | undefined>) {
    this.#lower = lower;
    this.#upper = upper;
    let { size } = lower;
    for (const [key, value] of upper) size += (value === undefined ? 0 : 1) - (lower.has(key) ? 1 : 0);
    this.size = size;
  }

  static empty<V>(): LayeredMap<V> {
    return new LayeredMap<V>(new Map(), new Map());
  }

  /** The map with `changes` applied; undefined removes a key. */
  with(changes: ReadonlyMap<string, V | undefined>): LayeredMap<V> {
    if (changes.size === 0) return this;
    if (this.#upper.size + changes.size > LAYER) {
      const merged = new Map<string, V>(this);
      for (const [key, value] of changes) {
        if (value === undefined) merged.delete(key);
        else merged.set(key, value);
      }
      return new LayeredMap(merged, new Map());
    }
    return new LayeredMap(this.#lower, new Map([...this.#upper, ...changes]));
  }

  get(key: string): V | undefined {
    return this.#upper.has(key) ? this.#upper.get(key) : this.#lower.get(key);
  }

  has(key: string): boolean {
    return this.#upper.has(key) ? this.#upper.get(key) !== undefined : this.#lower.has(key);
  }

  *entries(): MapIterator<[string, V]> {
    for (const [key, value] of this.#lower) {
      const changed = this.#upper.has(key) ? this.#upper.get(key) : value;
      if (changed !== undefined) yield [key, changed];
    }
    for (const [key, value] of this.#upper)
      if (value !== undefined && !this.#lower.has(key)) yield [key, value];
  }

  *keys(): MapIterator<string> {
    for (const [key] of this.entries()) yield key;
  }

  *values(): MapIterator<V> {
    for (const [, value] of this.entries()) yield value;
  }

  [Symbol.iterator](): MapIterator<[string, V]> {
    return this.entries();
  }

  forEach(callback: (value: V, key: string, map: ReadonlyMap<string, V>) => void): void {
    for (const [key, value] of this.entries()) callback(value, key, this);
  }
}
