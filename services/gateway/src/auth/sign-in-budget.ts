import type { Clock } from "@reeve/platform/async/clock";

/** How many wrong credentials a network may send at once, and after how long it may send another one. */
export const burst = 20;
export const refillMs = 2_000;
/** How many networks have a budget of their own. All others share one. */
export const maxNetworks = 10_000;
/** How many credentials are remembered: those that were accepted, and those that were refused. */
export const maxCredentials = 10_000;

const others = "";

interface Bucket {
  left: number;
  atMs: number;
}

/** The check of one credential. At most one of its methods is called. */
export interface Attempt {
  /** 0 if the credential may be checked, or after how many milliseconds one may be. */
  readonly delayMs: number;
  /** Notes that the credential was accepted. */
  accept(): void;
  /** Notes that the credential is a wrong guess. */
  refuse(): void;
  /** Notes that it could not be checked, or is no guess. */
  release(): void;
}

/**
 * Limits how many wrong credentials each network may try. A credential that was accepted before is never limited, whatever network it
 * comes from. A wrong credential that is repeated is no new guess: it has a budget of its own, so that a client with an old
 * token does not use up that of its network. An attempt is taken from its budget when it begins, so that guesses at the same time do not
 * exceed it, and is given back if it was no guess. The memory is bounded.
 */
export class SignInBudget {
  readonly #clock: Pick<Clock, "now">;
  readonly #networks = new Map<string, Bucket>();
  readonly #refused = new Map<string, Bucket>();
  readonly #accepted = new Set<string>();
  #sweptAtMs = -Infinity;

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  /** Begins the check of a credential. */
  begin(network: string, credential: string): Attempt {
    if (this.#accepted.has(credential)) return this.#ofAccepted(network, credential);
    const isRepeated = this.#refused.has(credential);
    const buckets = isRepeated ? this.#refused : this.#networks;
    const key = isRepeated ? credential : this.#keyOf(network);
    const bucket = buckets.get(key);
    const left = bucket === undefined ? burst : this.#leftOf(bucket);
    if (left < 1) {
      const delayMs = Math.ceil((1 - left) * refillMs);
      const accept = () => this.#accept(credential);
      return { delayMs, accept, refuse: () => undefined, release: () => undefined };
    }
    buckets.set(key, { left: left - 1, atMs: this.#clock.now() });
    const giveBack = () => {
      const current = buckets.get(key);
      if (current !== undefined) buckets.set(key, this.#changed(current, 1));
    };
    const accept = () => {
      giveBack();
      this.#accept(credential);
    };
    const refuse = () => this.#remember(credential, this.#refused.get(credential));
    return { delayMs: 0, accept, refuse, release: giveBack };
  }

  #ofAccepted(network: string, credential: string): Attempt {
    const refuse = () => {
      this.#accepted.delete(credential);
      this.#remember(credential, undefined);
      const key = this.#keyOf(network);
      const bucket = this.#networks.get(key) ?? { left: burst, atMs: this.#clock.now() };
      this.#networks.set(key, this.#changed(bucket, -1));
    };
    return { delayMs: 0, accept: () => this.#accept(credential), refuse, release: () => undefined };
  }

  #accept(credential: string): void {
    this.#refused.delete(credential);
    this.#accepted.delete(credential);
    this.#accepted.add(credential);
    dropOldest(this.#accepted);
  }

  /** Keeps the budget of a wrong credential, or begins one. */
  #remember(credential: string, known: Bucket | undefined): void {
    this.#refused.delete(credential);
    this.#refused.set(credential, known ?? { left: burst - 1, atMs: this.#clock.now() });
    dropOldest(this.#refused);
  }

  /** The number of networks and credentials that it remembers. */
  get size(): number {
    return this.#networks.size + this.#refused.size + this.#accepted.size;
  }

  #keyOf(network: string): string {
    if (this.#networks.has(network)) return network;
    const nowMs = this.#clock.now();
    // Not for each request: a look at all networks takes a while.
    if (this.#networks.size >= maxNetworks && nowMs - this.#sweptAtMs >= refillMs) {
      this.#sweptAtMs = nowMs;
      this.#dropFull();
    }
    return this.#networks.size < maxNetworks ? network : others;
  }

  /** Forgets networks that have their whole budget again. */
  #dropFull(): void {
    for (const [network, bucket] of this.#networks) {
      if (this.#leftOf(bucket) >= burst) this.#networks.delete(network);
    }
  }

  #leftOf({ left, atMs }: Bucket): number {
    return Math.min(burst, left + (this.#clock.now() - atMs) / refillMs);
  }

  #changed(bucket: Bucket, by: number): Bucket {
    const left = Math.min(burst, Math.max(0, this.#leftOf(bucket) + by));
    return { left, atMs: this.#clock.now() };
  }
}

function dropOldest(known: Set<string> | Map<string, unknown>): void {
  const [oldest] = known.keys();
  if (known.size > maxCredentials && oldest !== undefined) known.delete(oldest);
}
