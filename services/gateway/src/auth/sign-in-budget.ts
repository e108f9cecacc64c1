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

/**
 * Limits how many wrong credentials each network may try. A credential that was accepted before is never limited, whatever network it
 * comes from. A wrong credential that is repeated is no new guess: it has a budget of its own, so that a client with an old
 * token does not use up that of its network. The memory is bounded.
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

  /** Returns 0 if a credential may be checked, or after how many milliseconds one may be. */
  delayMs(network: string, credential: string): number {
    if (this.#accepted.has(credential)) return 0;
    const bucket = this.#refused.get(credential) ?? this.#networks.get(this.#keyOf(network));
    if (bucket === undefined) return 0;
    const left = this.#leftOf(bucket);
    return left >= 1 ? 0 : Math.ceil((1 - left) * refillMs);
  }

  /** Notes that a credential was accepted. */
  accept(credential: string): void {
    this.#refused.delete(credential);
    this.#accepted.delete(credential);
    this.#accepted.add(credential);
    dropOldest(this.#accepted);
  }

  /** Takes a wrong credential from the budget of its network, or of its own if it was refused before. */
  refuse(network: string, credential: string): void {
    this.#accepted.delete(credential);
    const known = this.#refused.get(credential);
    this.#refused.delete(credential);
    this.#refused.set(credential, this.#spent(known));
    dropOldest(this.#refused);
    if (known !== undefined) return;
    const key = this.#keyOf(network);
    this.#networks.set(key, this.#spent(this.#networks.get(key)));
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

  #spent(bucket: Bucket | undefined): Bucket {
    const left = bucket === undefined ? burst : this.#leftOf(bucket);
    return { left: Math.max(0, left - 1), atMs: this.#clock.now() };
  }
}

function dropOldest(known: Set<string> | Map<string, unknown>): void {
  const [oldest] = known.keys();
  if (known.size > maxCredentials && oldest !== undefined) known.delete(oldest);
}
