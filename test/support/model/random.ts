/** Numbers that look random and are the same for the same seed. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** At least 0, less than 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number, both ends included. */
  int(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.int(0, items.length - 1)]!;
  }

  /** One of the items, by weight. */
  weighted<T>(items: readonly (readonly [number, T])[]): T {
    let at = this.next() * items.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, item] of items) {
      at -= weight;
      if (at < 0) return item;
    }
    return items.at(-1)![1];
  }

  /** So many of the items, in their order. */
  some<T>(items: readonly T[], count: number): T[] {
    const left = new Set(items.keys());
    const chosen: number[] = [];
    while (chosen.length < count && left.size > 0) {
      const index = this.pick([...left]);
      left.delete(index);
      chosen.push(index);
    }
    return chosen.sort((a, b) => a - b).map((index) => items[index]!);
  }
}
