import { lookup } from "node:dns/promises";
import { Limiter } from "@reeve/platform/async/limiter";
import type { Turns } from "@reeve/platform/async/turns";

/** How long a name may take to be resolved, its turn included. */
const lookupMs = 5_000;
/** Half of the threads that there are for all lookups and files of this process. */
const maxLookups = 2;

/** The addresses of a name at this moment. Rejects when there are none. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

/** As every program of this host resolves names. */
export const resolveHost: ResolveHost = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address);

/**
 * The lookups of all sandboxes. Nothing ends one that is under way: it keeps its place and the turn of its sandbox until it is
 * over, and only who waits for it goes on.
 */
export class Lookups {
  readonly #resolve: ResolveHost;
  readonly #maxMs: number;
  readonly #places = new Limiter(maxLookups);

  constructor(resolve: ResolveHost, maxMs = lookupMs) {
    this.#resolve = resolve;
    this.#maxMs = maxMs;
  }

  /** Those of one sandbox take `turns`. Rejects when `signal` aborts, or when it takes too long. */
  async addresses(host: string, turns: Turns, signal: AbortSignal): Promise<readonly string[]> {
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(this.#maxMs)]);
    using held = new DisposableStack();
    held.use(await turns.enter(bounded));
    held.use(await this.#places.take(bounded));
    const found = this.#resolve(host);
    const until = held.move();
    const free = () => until.dispose();
    void found.then(free, free);
    return await before(bounded, found);
  }
}

async function before<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason as Error);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
