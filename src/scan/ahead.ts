/** How far work may run ahead of its consumer. */
export interface AheadLimits<T> {
  /** Results started and not yet taken. */
  readonly count: number;
  /** The sum of `weight` over those; one is always allowed. */
  readonly weight?: number;
  readonly weightOf?: (item: T) => number;
  /** Starts with one and doubles: for consumers who may stop early. */
  readonly slowStart?: boolean;
}

interface Started<R> {
  readonly result: Promise<R>;
  readonly weight: number;
}

/**
 * Maps items to results in order, starting work ahead of its consumer within limits. The first failure ends it, at its place. When the consumer stops,
 * nothing new is started; work under way is left to its signal.
 */
export async function* mapAhead<T, R>(
  items: Iterable<T> | AsyncIterable<T>,
  start: (item: T) => Promise<R>,
  limits: AheadLimits<T>,
): AsyncGenerator<R, void, undefined> {
  const iterator = iterate(items);
  const queue: Started<R>[] = [];
  let next: Promise<IteratorResult<T>> | undefined;
  let ended = false;
  let weight = 0;
  let taken = 0;
  const hasRoom = () => {
    const count = limits.slowStart ? Math.min(limits.count, 2 * taken + 1) : limits.count;
    return (
      queue.length === 0 || (queue.length < count && weight < (limits.weight ?? Number.POSITIVE_INFINITY))
    );
  };
  try {
    for (;;) {
      while (!ended && hasRoom()) {
        next ??= quiet(iterator.next());
        const head = queue[0];
        // A slow source must not hold back a result that is ready.
        if (head !== undefined && !(await isFirst(next, head.result))) break;
        const item = await next;
        next = undefined;
        if (item.done) ended = true;
        else {
          const own = limits.weightOf?.(item.value) ?? 0;
          queue.push({ result: quiet(start(item.value)), weight: own });
          weight += own;
        }
      }
      const head = queue[0];
      if (head === undefined) return;
      const result = await head.result;
      queue.shift();
      weight -= head.weight;
      taken++;
      yield result;
    }
  } finally {
    if (!ended) await iterator.return?.();
  }
}

function iterate<T>(items: Iterable<T> | AsyncIterable<T>): AsyncIterator<T> {
  if (Symbol.asyncIterator in items) return items[Symbol.asyncIterator]();
  const iterator = items[Symbol.iterator]();
  return { next: async () => iterator.next() };
}

/** Marks a promise as looked after: its failure shows where it is awaited, if ever. */
function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

/** True when `a` settles before `b`. */
function isFirst(a: Promise<unknown>, b: Promise<unknown>): Promise<boolean> {
  const yes = () => true;
  const no = () => false;
  return Promise.race([a.then(yes, yes), b.then(no, no)]);
}
