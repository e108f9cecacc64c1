import { create } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { bucketOf } from "@reeve/contracts/channel";
import type { QuotaUsage } from "@reeve/contracts/quota";
import { AdmittedRunSchema, QuotaUsageSchema } from "@reeve/contracts/quota";
import type { Row, Table } from "@reeve/jetstream/table/port";
import type { Clock } from "@reeve/platform/async/clock";
import { KeyedSemaphore } from "@reeve/platform/async/coordination/keyed-semaphore";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import type { Principal } from "@reeve/platform/rpc/principal";
import type { OpenRuns } from "../app/list-runs.ts";
import type { Quota } from "./quota.ts";
import { appliesTo, counterOf } from "./quota.ts";
import { quotaExceeded } from "./quota-exceeded.ts";

/** After this time, a run that was admitted and is not in the index was never created. */
const admissionMs = 60_000;
/** How often a gateway tries to write a count that others write too. */
const maxAttempts = 50;
/** How many runs of one count may wait to be admitted. */
const maxWaiting = 1_000;
/** When a client should ask again for a run that needs the end of another. */
const openRetryMs = 5_000;
const dayMs = 86_400_000;

export interface RunQuotaPorts {
  /** Returns the quotas that are in force. */
  quotas(): readonly Quota[];
  readonly usage: Pick<Table<QuotaUsage>, "get" | "create" | "update">;
  readonly clock: Pick<Clock, "now">;
  /** Counts the open runs of a tenant, or of one subject of it, up to `limit`. */
  countOpen(
    of: { readonly tenant: string; readonly subject: string | undefined },
    known: { readonly runIds: readonly string[]; readonly limit: number },
    signal: AbortSignal,
  ): Promise<OpenRuns>;
}

const { key: usageKey } = bucketOf(QuotaUsageSchema);

/**
 * Admits new runs up to the quotas of their principal. An admission is a compare-and-write of one count, so gateways never admit
 * more runs together than a quota allows. A run that was admitted and not created counts for a minute, and for its day.
 */
export class RunQuotas {
  readonly #ports: RunQuotaPorts;
  /** One gateway writes a count once at a time, so that it never waits for itself. */
  readonly #writing = new KeyedSemaphore({
    permits: 1_000,
    permitsPerKey: 1,
    maxWaitingPerKey: maxWaiting,
  });

  constructor(ports: RunQuotaPorts) {
    this.#ports = ports;
  }

  /** Admits a run, once for each id. Throws a Failure with reason QUOTA_EXCEEDED that names the quota. */
  async admit(principal: Principal, runId: string, signal: AbortSignal): Promise<void> {
    const applying = this.#ports.quotas().filter((quota) => appliesTo(quota, principal));
    const admitted: Quota[] = [];
    try {
      for (const quota of applying) {
        if (quota.openRuns === undefined && quota.runsPerDay === undefined) continue;
        await this.#admitTo(quota, principal, runId, signal);
        admitted.push(quota);
      }
    } catch (error) {
      if (!signal.aborted) await this.#withdraw(admitted, principal, runId, signal);
      throw error;
    }
  }

  /** Takes back the admission of a run that was not created. */
  async withdraw(principal: Principal, runId: string, signal: AbortSignal): Promise<void> {
    const applying = this.#ports.quotas().filter((quota) => appliesTo(quota, principal));
    await this.#withdraw(applying, principal, runId, signal);
  }

  async #admitTo(
    quota: Quota,
    principal: Principal,
    runId: string,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#change(quota, principal, signal, async (before) => {
      if (before.admitted.some((known) => known.runId === runId)) return undefined;
      const { runsPerDay = Infinity } = quota;
      if (before.runsOfDay >= runsPerDay) throw this.#dayIsOver(quota, principal, runsPerDay);
      const pending = await this.#pendingAfter(quota, principal, before, signal);
      const time = timestampFromMs(this.#ports.clock.now());
      const admission = create(AdmittedRunSchema, { runId, time });
      const runsOfDay = before.runsOfDay + 1;
      return { ...before, runsOfDay, admitted: [...pending, admission] };
    });
  }

  /** Returns the admissions that the index does not show yet. Throws a Failure if there is no room for another run. */
  async #pendingAfter(
    quota: Quota,
    principal: Principal,
    { admitted }: QuotaUsage,
    signal: AbortSignal,
  ): Promise<QuotaUsage["admitted"]> {
    const { openRuns: max, per } = quota;
    if (max === undefined) return [];
    const { tenant } = principal;
    const subject = per === "subject" ? principal.subject : undefined;
    const oldest = this.#ports.clock.now() - admissionMs;
    const recent = admitted.filter(({ time }) => time !== undefined && timestampMs(time) > oldest);
    const known = { runIds: recent.map(({ runId }) => runId), limit: max };
    // After the read of the admissions: what has left them is in the index.
    const { count, missing } = await this.#ports.countOpen({ tenant, subject }, known, signal);
    const pending = recent.filter(({ runId }) => missing.includes(runId));
    if (count + pending.length < max) return pending;
    throw quotaExceeded(quota, principal, {
      limit: "open_runs",
      max,
      allows: counted(max, "open run"),
      advice: "wait until one ends, or cancel one",
      retryAfterMs: openRetryMs,
    });
  }

  async #withdraw(
    quotas: readonly Quota[],
    principal: Principal,
    runId: string,
    signal: AbortSignal,
  ): Promise<void> {
    for (const quota of quotas) {
      await this.#change(quota, principal, signal, async (before) => {
        const admitted = before.admitted.filter((known) => known.runId !== runId);
        if (admitted.length === before.admitted.length) return undefined;
        return { ...before, admitted, runsOfDay: Math.max(0, before.runsOfDay - 1) };
      });
    }
  }

  /** Replaces a count by what `change` returns. Undefined: leaves it as it is. */
  async #change(
    quota: Quota,
    principal: Principal,
    signal: AbortSignal,
    change: (before: QuotaUsage) => Promise<QuotaUsage | undefined>,
  ): Promise<void> {
    const { usage } = this.#ports;
    const { tenant } = principal;
    const key = usageKey({ tenant, counter: counterOf(quota, principal) });
    using permit = await this.#writing.acquire(key, signal);
    if (permit === undefined) throw storeUnavailable(new Error(`too many runs start at once`));
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const row = await usage.get(key, signal);
      const after = await change(this.#today(row));
      if (after === undefined) return;
      const record = create(QuotaUsageSchema, after);
      const written =
        row === undefined
          ? await usage.create(key, record, signal)
          : await usage.update(key, record, row.revision, signal);
      if (written !== undefined) return;
    }
    throw storeUnavailable(
      new Error(`the count of quota ${quota.name} was written by others ${maxAttempts} times`),
    );
  }

  #today(row: Row<QuotaUsage> | undefined): QuotaUsage {
    const day = Math.floor(this.#ports.clock.now() / dayMs);
    const before = row?.record ?? create(QuotaUsageSchema);
    return before.day === day ? before : { ...before, day, runsOfDay: 0 };
  }

  #dayIsOver(quota: Quota, principal: Principal, max: number) {
    const retryAfterMs = dayMs - (this.#ports.clock.now() % dayMs);
    return quotaExceeded(quota, principal, {
      limit: "runs_per_day",
      max,
      allows: `${counted(max, "run")} per day`,
      advice: "start the next one after midnight UTC",
      retryAfterMs,
    });
  }
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
