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
    if ((this.#shares.get(key)?.parties ?? 0) >= permitsPerKey + maxWaitingPerKey) return undefined;
    using held = new DisposableStack();
    const { semaphore } = this.#join(key, held);
    held.use(await semaphore.acquire(signal));
    held.use(await this.#all.acquire(signal));
    return held.move();
  }

  /** Takes a permit of `key` if one is free. Disposing it releases the permit. */
  tryAcquire(key: string): Disposable | undefined {
    using held = new DisposableStack();
    const own = held.use(this.#join(key, held).semaphore.tryAcquire());
    const any = own && held.use(this.#all.tryAcquire());
    return any && held.move();
  }

  /** Counts a party of a key until it is disposed. */
  #join(key: string, held: DisposableStack): Share {
    const { permitsPerKey } = this.#options;
    const share = this.#shares.get(key) ?? { semaphore: new Semaphore(permitsPerKey), parties: 0 };
    this.#shares.set(key, share);
    share.parties++;
    held.defer(() => {
      share.parties--;
      if (share.parties === 0) this.#shares.delete(key);
    });
    return share;
  }
}
