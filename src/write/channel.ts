/** Hands items from one task to another, one at a time: `send` waits until what it sent before was taken. */
export class Channel<T> implements AsyncIterable<T> {
  #item: { readonly value: T } | undefined;
  #ended = false;
  #wakeSender: (() => void) | undefined;
  #wakeReceiver: (() => void) | undefined;

  async send(value: T): Promise<void> {
    while (this.#item && !this.#ended) {
      await new Promise<void>((resolve) => {
        this.#wakeSender = resolve;
      });
    }
    if (this.#ended) return;
    this.#item = { value };
    this.#wakeReceiver?.();
  }

  /** Ends the stream; what was sent is still taken. A sender that waits goes on and what it sends is dropped. */
  end(): void {
    this.#ended = true;
    this.#wakeReceiver?.();
    this.#wakeSender?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    try {
      for (;;) {
        const item = this.#item;
        if (item) {
          this.#item = undefined;
          this.#wakeSender?.();
          yield item.value;
        } else if (this.#ended) return;
        else {
          await new Promise<void>((resolve) => {
            this.#wakeReceiver = resolve;
          });
        }
      }
    } finally {
      this.#ended = true;
      this.#wakeSender?.();
    }
  }
}
