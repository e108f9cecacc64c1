import { create } from "@bufbuild/protobuf";
import type { QuotaUsage } from "@reeve/contracts/quota";
import { QuotaUsageSchema } from "@reeve/contracts/quota";
import type { Table } from "@reeve/jetstream/table/port";
import type { Clock } from "@reeve/platform/async/clock";
import { KeyedSemaphore } from "@reeve/platform/async/coordination/keyed-semaphore";
import { delayAfter } from "@reeve/platform/async/retry/backoff";
import { sleep } from "@reeve/platform/async/sleep";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";

/** How often a gateway tries to write a count that other gateways write too, and the pauses between. */
const maxAttempts = 50;
const backoff = { firstDelayMs: 1, maxDelayMs: 50, jitter: 1 };
/** How many runs of one count may wait to be admitted. */
const maxWaiting = 500;
export const dayMs = 86_400_000;

export interface QuotaCountsOptions {
  readonly usage: Pick<Table<QuotaUsage>, "get" | "create" | "update">;
  readonly clock: Pick<Clock, "now">;
}

/** Returns the day of a time, in UTC, since the epoch. */
function dayOf(ms: number): number {
  return Math.floor(ms / dayMs);
}

/** The counts of quotas, which gateways change by compare-and-write. */
export class QuotaCounts {
  readonly #usage: QuotaCountsOptions["usage"];
  readonly #clock: Pick<Clock, "now">;
  /** One gateway writes a count once at a time, so that it never waits for itself. */
  readonly #writing = new KeyedSemaphore({
    permits: 1_000,
    permitsPerKey: 1,
    maxWaitingPerKey: maxWaiting,
  });

  constructor({ usage, clock }: QuotaCountsOptions) {
    this.#usage = usage;
    this.#clock = clock;
  }

  /** Returns a count as it is now. */
  async read(key: string, signal: AbortSignal): Promise<QuotaUsage> {
    const row = await this.#usage.get(key, signal);
    return this.#today(row?.record ?? create(QuotaUsageSchema));
  }

  /**
   * Replaces a count by what `change` returns, which may be called several times. Undefined: leaves it as it is. Returns whether it
   * was replaced. Throws what `change` throws for a count that nobody has changed meanwhile, or a Failure of kind `unavailable`.
   */
  async change(
    key: string,
    signal: AbortSignal,
    change: (before: QuotaUsage) => Promise<QuotaUsage | undefined>,
  ): Promise<boolean> {
    using permit = await this.#writing.acquire(key, signal);
    if (permit === undefined) throw storeUnavailable(new Error("too many runs wait for a quota"));
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      const row = await this.#usage.get(key, signal);
      const before = this.#today(row?.record ?? create(QuotaUsageSchema));
      const after = await change(before).catch(async (error: unknown) => {
        if (await this.#isAt(key, row?.revision, signal)) throw error;
        return "changed" as const;
      });
      if (after === undefined) return false;
      if (after === "changed") continue;
      const record = create(QuotaUsageSchema, after);
      const written =
        row === undefined
          ? await this.#usage.create(key, record, signal)
          : await this.#usage.update(key, record, row.revision, signal);
      if (written !== undefined) return true;
      await sleep(delayAfter(attempt, backoff), signal);
    }
    throw storeUnavailable(new Error(`count ${key} was written by others ${maxAttempts} times`));
  }

  async #isAt(key: string, revision: number | undefined, signal: AbortSignal): Promise<boolean> {
    return (await this.#usage.get(key, signal))?.revision === revision;
  }

  /** Starts a new day. A gateway whose clock is behind stays in the one that another has begun. */
  #today(before: QuotaUsage): QuotaUsage {
    const day = dayOf(this.#clock.now());
    if (day <= before.day) return before;
    return { ...before, day, runsOfDay: 0, deletedCostUsd: 0, deletedRunIds: [] };
  }
}
