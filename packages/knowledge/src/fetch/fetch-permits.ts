import { KeyedSemaphore } from "@reeve/platform/async/coordination/keyed-semaphore";
import { busy } from "../documents/document-intake.ts";

/** A document up to this size needs no further permit: those of all connections fit into memory. */
const smallBytes = 1_048_576;

/** A document that is fetched, until it is stored. Disposing releases its permits. */
export interface FetchTurn extends Disposable {
  /** Whether this process has memory for so much of the document. Takes a permit for large documents if one is free. */
  hasRoom(bytes: number): boolean;
  /** Waits for a permit for large documents, without a connection. Throws a Failure of kind `unavailable` if too many wait. */
  untilRoom(signal: AbortSignal): Promise<void>;
}

/**
 * Limits what is fetched at a time. A server that does not answer holds a connection, of which its tenant has few: it delays neither
 * other tenants nor documents of other hosts. A large document holds memory, so that few are read at a time.
 */
export class FetchPermits {
  readonly #connections = new KeyedSemaphore({
    permits: 24,
    permitsPerKey: 4,
    maxWaitingPerKey: 10,
  });
  readonly #hosts = new KeyedSemaphore({ permits: 1_000, permitsPerKey: 2, maxWaitingPerKey: 10 });
  readonly #large = new KeyedSemaphore({ permits: 2, permitsPerKey: 1, maxWaitingPerKey: 10 });

  /** Waits for a connection. Throws a Failure of kind `unavailable` if too many others of the tenant, or for its host, wait. */
  async acquire(tenant: string, url: URL, signal: AbortSignal): Promise<FetchTurn> {
    using held = new DisposableStack();
    const connection = held.adopt({ permits: await this.#connect(tenant, url, signal) }, (each) =>
      each.permits[Symbol.dispose](),
    );
    const memory = held.use(new DisposableStack());
    let isLarge = false;
    const keep = (permit: Disposable | undefined) => {
      if (permit !== undefined) memory.use(permit);
      isLarge ||= permit !== undefined;
      return isLarge;
    };
    const all = held.move();
    return {
      hasRoom: (bytes) => bytes <= smallBytes || isLarge || keep(this.#large.tryAcquire(tenant)),
      untilRoom: async (until) => {
        connection.permits[Symbol.dispose]();
        if (!keep(await this.#large.acquire(tenant, until))) throw waits(url);
        connection.permits = await this.#connect(tenant, url, until);
      },
      [Symbol.dispose]: () => all.dispose(),
    };
  }

  async #connect(tenant: string, url: URL, signal: AbortSignal): Promise<Disposable> {
    using held = new DisposableStack();
    // A host first: what waits for it holds no connection.
    const host = held.use(await this.#hosts.acquire(`${tenant} ${url.host}`, signal));
    if (host === undefined) throw waits(url);
    const connection = held.use(await this.#connections.acquire(tenant, signal));
    if (connection === undefined) throw waits(url);
    return held.move();
  }
}

function waits({ origin }: URL) {
  return busy(`the document at ${origin} waits for too many others`);
}
