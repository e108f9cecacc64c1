import { Semaphore } from "./semaphore.ts";

export interface KeyedSemaphoreOptions {
  /** How many permits there are for all keys together. */
  readonly permits: number;
  /** How many of them one key may hold. */
  readonly permitsPerKey: number;
  /** How many more parties of one key may wait. */
  readonly maxWaitingPerKey: number;
}

interface Share {
  readonly semaphore: Semaphore;
  /** How many parties of the key hold a permit or wait. */
  parties: number;
}

/** A semaphore of which no key, such as a tenant, holds more than its share, so that one key cannot lock out another. */
export class KeyedSemaphore {
  readonly #options: KeyedSemaphoreOptions;
  readonly #all: Semaphore;
  readonly #shares = new Map<string, Share>();

  constructor(options: KeyedSemaphoreOptions) {
    this.#options = options;
    this.#all = new Semaphore(options.permits);
  }

  /** How many keys hold a permit or wait. */
  get size(): number {
    return this.#shares.size;
  }

  /**
   * Waits for a permit of `key`, which disposing releases. Returns undefined at once when too many parties of the key wait.
   * Rejects with the signal's reason when the signal aborts first.
   */
  async acquire(key: string, signal: AbortSignal): Promise<Disposable | undefined> {
    const { permitsPerKey, maxWaitingPerKey } = this.#options;
    const share = this.#shares.get(key) ?? { semaphore: new Semaphore(permitsPerKey), parties: 0 };
    if (share.parties >= permitsPerKey + maxWaitingPerKey) return undefined;
    this.#shares.set(key, share);
    share.parties++;
    using held = new DisposableStack();
    held.defer(() => {
      share.parties--;
      if (share.parties === 0) this.#shares.delete(key);
    });
    held.use(await share.semaphore.acquire(signal));
    held.use(await this.#all.acquire(signal));
    return held.move();
  }
}
