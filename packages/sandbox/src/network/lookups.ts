import { lookup } from "node:dns/promises";
import { abortable } from "@reeve/platform/async/abortable";
import { Semaphore } from "@reeve/platform/async/coordination/semaphore";

/** How long a lookup may take, including the wait for its turn. */
const lookupMs = 5_000;
/** Half of the threads that this process has for all lookups and file operations. */
const maxLookups = 2;

/** Returns the current addresses of a name. Rejects if there are none. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

/** Resolves names as all programs of this host do. */
export const resolveHost: ResolveHost = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address);

/**
 * Limits the name lookups of all sandboxes. A running lookup cannot be cancelled: after an abort the caller continues, but
 * the lookup keeps its permits until it ends.
 */
export class Lookups {
  readonly #resolve: ResolveHost;
  readonly #maxMs: number;
  readonly #permits = new Semaphore(maxLookups);

  constructor(resolve: ResolveHost, maxMs = lookupMs) {
    this.#resolve = resolve;
    this.#maxMs = maxMs;
  }

  /** Resolves a name. `mutex` serializes the lookups of one sandbox. Rejects if `signal` aborts, or after a timeout. */
  async addresses(host: string, mutex: Semaphore, signal: AbortSignal): Promise<readonly string[]> {
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(this.#maxMs)]);
    using held = new DisposableStack();
    held.use(await mutex.acquire(bounded));
    held.use(await this.#permits.acquire(bounded));
    const found = this.#resolve(host);
    const permits = held.move();
    const release = () => permits.dispose();
    void found.then(release, release);
    return await abortable(found, bounded);
  }
}
