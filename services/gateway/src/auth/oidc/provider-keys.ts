import { ErrorReason } from "@reeve/contracts/error";
import type { Clock } from "@reeve/platform/async/clock";
import { Failure } from "@reeve/platform/failure";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { CompactJWSHeaderParameters, CryptoKey, FlattenedJWSInput, JSONWebKeySet } from "jose";
import { calculateJwkThumbprint, createLocalJWKSet } from "jose";

/** How often the keys are read again. A key that the provider removes is refused after twice this time at the latest. */
const refreshMs = 300_000;
/** The time between two reads, so that tokens with invented keys cause no load at the provider. */
const minIntervalMs = 5_000;
/** How many callers wait for a read at once. A token with an invented key needs no more than a header to wait. */
export const maxWaiting = 1_000;
/** How many of them may come from one network, so that others find a place. */
export const maxWaitingOfNetwork = 100;

export interface ProviderKeysOptions {
  readonly issuer: string;
  /** Reads the keys that the provider publishes. */
  read(signal: AbortSignal): Promise<JSONWebKeySet>;
  /** A monotonic clock. */
  readonly clock: Clock;
  readonly log: Logger;
}

/** The public keys of an identity provider. While the provider does not answer, the keys that are known stay valid. */
export class ProviderKeys {
  readonly #options: ProviderKeysOptions;
  readonly #signal: AbortSignal;
  #ids: ReadonlySet<string> = new Set();
  #thumbprints: ReadonlySet<string> = new Set();
  #find: ReturnType<typeof createLocalJWKSet> = createLocalJWKSet({ keys: [] });
  #reading: Promise<void> | undefined;
  #waiting = 0;
  readonly #waitingOf = new Map<string, number>();
  #lastReadMs = -Infinity;
  /** Why the last read was of no use. */
  #failure: Failure | undefined;

  /** The keys are read until `signal` aborts. */
  constructor(options: ProviderKeysOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  /** Whether the provider has published a key with this id, and has not removed it since. */
  has(id: string | undefined): boolean {
    return id !== undefined && this.#ids.has(id);
  }

  /** Whether the provider has published the key with this thumbprint (RFC 7638), and has not removed or replaced it since. */
  publishes(thumbprint: string): boolean {
    return this.#thumbprints.has(thumbprint);
  }

  /**
   * Resolves with the key that signed a token. Reads the keys again if it is unknown, at most every five seconds; callers
   * wait for the same read. Throws a JOSEError if the provider has no such key, and a Failure of kind `unavailable` if the
   * provider does not answer.
   */
  async find(
    header: CompactJWSHeaderParameters,
    token: FlattenedJWSInput,
    network: string,
  ): Promise<CryptoKey> {
    if (!this.has(header.kid)) {
      if (this.#failure !== undefined && this.#waitMs() > 0) throw this.#failure;
      await this.refresh(network);
    }
    return await this.#find(header, token);
  }

  /** Keeps the keys up to date until the signal aborts. */
  async keep(): Promise<void> {
    while (!this.#signal.aborted) {
      await this.#readOnce().catch(() => undefined);
      await this.#options.clock.sleep(refreshMs, this.#signal);
    }
  }

  /**
   * Reads the keys for a caller of a network, at most every five seconds; callers wait for the same read. Throws a Failure of kind
   * `unavailable` if that is impossible, or if too many wait already (`isCrowded`).
   */
  async refresh(network: string): Promise<void> {
    const ofNetwork = this.#waitingOf.get(network) ?? 0;
    if (this.#waiting >= maxWaiting || ofNetwork >= maxWaitingOfNetwork) {
      throw unavailable(this.#options.issuer, new Crowded());
    }
    this.#count(network, 1);
    try {
      await this.#readOnce();
    } finally {
      this.#count(network, -1);
    }
  }

  #count(network: string, by: number): void {
    this.#waiting += by;
    const ofNetwork = (this.#waitingOf.get(network) ?? 0) + by;
    if (ofNetwork === 0) this.#waitingOf.delete(network);
    else this.#waitingOf.set(network, ofNetwork);
  }

  async #readOnce(): Promise<void> {
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
    await this.#reading;
  }

  async #read(): Promise<void> {
    const { issuer, clock, log, read } = this.#options;
    try {
      if (this.#waitMs() > 0) await clock.sleep(this.#waitMs(), this.#signal);
      const set = await read(this.#signal);
      const thumbprints = await thumbprintsOf(set);
      this.#find = createLocalJWKSet(set);
      this.#thumbprints = thumbprints;
      this.#ids = new Set(set.keys.flatMap(({ kid }) => kid ?? []));
      if (this.#failure !== undefined) log.info({ issuer }, "the identity provider answers again");
      this.#failure = undefined;
    } catch (error) {
      if (this.#failure === undefined && !this.#signal.aborted) {
        log.error({ err: error, issuer }, "the keys of the identity provider cannot be read");
      }
      this.#failure = unavailable(issuer, error);
      throw this.#failure;
    } finally {
      this.#lastReadMs = clock.now();
    }
  }

  #waitMs(): number {
    return this.#lastReadMs + minIntervalMs - this.#options.clock.now();
  }
}

/** Why a caller does not wait for the keys. */
class Crowded extends Error {
  constructor() {
    super(
      `${maxWaiting} tokens with unknown keys wait already, or ${maxWaitingOfNetwork} of the same network`,
    );
  }
}

/** Whether a caller was refused because too many wait for the keys: nothing is known about its token. */
export function isCrowded(error: unknown): boolean {
  return error instanceof Failure && error.cause instanceof Crowded;
}

/** A key of an unknown type has no thumbprint. */
async function thumbprintsOf({ keys }: JSONWebKeySet): Promise<ReadonlySet<string>> {
  const known = keys.map((key) => calculateJwkThumbprint(key).catch(() => []));
  return new Set((await Promise.all(known)).flat());
}

/** The cause is for the log only: it may name internal addresses. */
function unavailable(issuer: string, cause: unknown): Failure {
  return new Failure(
    "unavailable",
    ErrorReason.UNAVAILABLE,
    `the token cannot be checked, because the keys of ${issuer} cannot be read; try again later; the log of the gateway says why`,
    { cause, retryAfterMs: minIntervalMs },
  );
}
