import type { Caller } from "@reeve/platform/rpc/principal";

/** How many credentials are remembered. */
const maxRemembered = 10_000;

/** Remembers the credentials that callers have used. Forgets the one that was not used for the longest time, if there are too many. */
export class SignIns {
  readonly #used = new Set<string>();

  /** Whether a credential is used for the first time since this process started, or since it was forgotten. */
  isFirst({ tenant, subject, kind, tokenId }: Caller): boolean {
    const key = `${kind}:${tokenId}:${tenant}/${subject}`;
    const isFirst = !this.#used.delete(key);
    this.#used.add(key);
    const [oldest] = this.#used;
    if (this.#used.size > maxRemembered && oldest !== undefined) this.#used.delete(oldest);
    return isFirst;
  }
}
