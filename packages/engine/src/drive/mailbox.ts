/** Messages from many to one reader. Bounded by its senders: each has at most a few messages under way. */
export class Mailbox<Message> {
  readonly #messages: Message[] = [];
  #wake: (() => void) | undefined;

  post(message: Message): void {
    this.#messages.push(message);
    this.#wake?.();
  }

  /** Everything that has come, if anything has. */
  empty(): readonly Message[] {
    return this.#messages.splice(0);
  }

  /** Everything that has come; waits for the first. Rejects with the signal's reason when it aborts. */
  async collect(signal: AbortSignal): Promise<readonly Message[]> {
    signal.throwIfAborted();
    if (this.#messages.length === 0) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const abort = () => reject(signal.reason as Error);
      this.#wake = resolve;
      signal.addEventListener("abort", abort, { once: true });
      try {
        await promise;
      } finally {
        this.#wake = undefined;
        signal.removeEventListener("abort", abort);
      }
    }
    return this.#messages.splice(0);
  }
}
