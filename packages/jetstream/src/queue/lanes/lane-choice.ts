import { lanesOf } from "@reeve/contracts/lane";
import { settledWithin } from "@reeve/platform/async/settled-within";

/** How long an answer about a lane is used. */
const freshMs = 1_000;
/** How long a publication waits for answers. After that, it uses the first lane. */
const maxWaitMs = 100;
/** How many more messages of others may wait in the first lane of a tenant than in its second one. */
const tolerance = 8;
/** How many tenants are remembered. */
const maxTenants = 1_000;

/** What a writer asks about the lanes of its queue. */
export interface LaneBacklogs {
  readonly count: number;
  /** Returns how many messages wait in a lane. */
  waiting(lane: number): Promise<number>;
  /** Returns how many messages of a tenant are in a lane, waiting or taken. */
  ofTenant(lane: number, tenant: string): Promise<number>;
}

/**
 * Chooses the lane of each message, of the two of its tenant: the one in which fewer messages of other tenants wait. A tenant
 * with a long queue of its own therefore stays in one lane, and another tenant of that lane moves to its second one.
 */
export class LaneChoice {
  readonly #backlogs: LaneBacklogs;
  readonly #now: () => number;
  readonly #answers = new Map<string, { readonly at: number; readonly count: Promise<number> }>();

  constructor(backlogs: LaneBacklogs, now: () => number = () => performance.now()) {
    this.#backlogs = backlogs;
    this.#now = now;
  }

  /** Returns a lane of the tenant. Rejects only with the signal's reason: without an answer of the store, it is the first one. */
  async of(tenant: string, signal: AbortSignal): Promise<number> {
    const [first, second] = lanesOf(tenant, this.#backlogs.count);
    let chosen = first;
    const choosing = this.#choose(tenant, first, second).then((lane) => (chosen = lane));
    try {
      await settledWithin(choosing, maxWaitMs, signal);
    } catch {
      signal.throwIfAborted();
    }
    return chosen;
  }

  async #choose(tenant: string, first: number, second: number): Promise<number> {
    const [inFirst, inSecond] = await Promise.all([this.#waiting(first), this.#waiting(second)]);
    if (inFirst <= inSecond + tolerance) return first;
    const [ownInFirst, ownInSecond] = await Promise.all([
      this.#ofTenant(first, tenant),
      this.#ofTenant(second, tenant),
    ]);
    const foreign = Math.max(inFirst - ownInFirst, 0);
    return foreign <= Math.max(inSecond - ownInSecond, 0) + tolerance ? first : second;
  }

  #waiting(lane: number): Promise<number> {
    return this.#fresh(String(lane), () => this.#backlogs.waiting(lane));
  }

  #ofTenant(lane: number, tenant: string): Promise<number> {
    return this.#fresh(`${lane}.${tenant}`, () => this.#backlogs.ofTenant(lane, tenant));
  }

  #fresh(key: string, ask: () => Promise<number>): Promise<number> {
    const known = this.#answers.get(key);
    const at = this.#now();
    if (known !== undefined && at - known.at < freshMs) return known.count;
    if (this.#answers.size > maxTenants) this.#answers.clear();
    const count = ask();
    this.#answers.set(key, { at, count });
    return count;
  }
}
