import { create } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { bucketOf } from "@reeve/contracts/channel";
import type { AdmittedRun, QuotaUsage } from "@reeve/contracts/quota";
import { AdmittedRunSchema, QuotaUsageSchema } from "@reeve/contracts/quota";
import type { Principal } from "@reeve/platform/rpc/principal";
import type { OpenRuns, RunOwners } from "../app/list-runs.ts";
import type { Quota } from "./quota.ts";
import { appliesTo, counterOf, limitsRuns } from "./quota.ts";
import { dayIsUsedUp, noOpenRunLeft } from "./quota-exceeded.ts";
import type { QuotaCountsOptions } from "./quota-counts.ts";
import { QuotaCounts } from "./quota-counts.ts";

/** How long a run that was admitted may take to be created and indexed, before its log is asked whether it exists. */
const admissionMs = 60_000;
/** How many admissions are kept for a quota without a limit of open runs, so that they can be withdrawn. */
const maxKept = 500;

export interface RunQuotaPorts extends QuotaCountsOptions {
  /** Returns the quotas that are in force. */
  quotas(): readonly Quota[];
  /** Counts the open runs of a tenant, or of some subjects of it, up to `limit`. */
  countOpen(
    of: RunOwners,
    known: { readonly runIds: readonly string[]; readonly limit: number },
    signal: AbortSignal,
  ): Promise<OpenRuns>;
  /** Whether a run has a log. */
  exists(tenant: string, runId: string, signal: AbortSignal): Promise<boolean>;
}

/** Room that quotas have given to a run. */
export interface Admission {
  /** Gives it back, because the run was refused. Does nothing for a run that another request had admitted. */
  withdraw(signal: AbortSignal): Promise<void>;
}

const { key: usageKey } = bucketOf(QuotaUsageSchema);

/**
 * Admits new runs up to the quotas of their principal. An admission is a compare-and-write of one count, so gateways that race do
 * not admit more runs together than a quota allows.
 */
export class RunQuotas {
  readonly #ports: RunQuotaPorts;
  readonly #counts: QuotaCounts;

  constructor(ports: RunQuotaPorts) {
    this.#ports = ports;
    this.#counts = new QuotaCounts(ports);
  }

  /** Admits a run, once for each id. Throws a Failure with reason QUOTA_EXCEEDED that names the quota. */
  async admit(principal: Principal, runId: string, signal: AbortSignal): Promise<Admission> {
    const applying = this.#applyingTo(principal);
    // Before the counts are locked: the index may have to be built, or to catch up.
    if (applying.some(({ openRuns }) => openRuns !== undefined)) {
      const none = { runIds: [], limit: 1 };
      await this.#ports.countOpen({ tenant: principal.tenant, subjects: undefined }, none, signal);
    }
    const admitted: Quota[] = [];
    const admission = {
      withdraw: async (until: AbortSignal) => {
        for (const quota of admitted) await this.#forget(quota, principal, runId, "refused", until);
      },
    };
    try {
      for (const quota of applying) {
        if (await this.#admitTo(quota, principal, runId, signal)) admitted.push(quota);
      }
      return admission;
    } catch (error) {
      // The refusal is what matters. An admission that stays counts for its day only.
      await admission.withdraw(signal).catch(() => undefined);
      throw error;
    }
  }

  /** Frees the room of a run that was deleted. It still counts for its day. */
  async release(principal: Principal, runId: string, signal: AbortSignal): Promise<void> {
    for (const quota of this.#applyingTo(principal)) {
      await this.#forget(quota, principal, runId, "deleted", signal);
    }
  }

  #applyingTo(principal: Principal): readonly Quota[] {
    return this.#ports.quotas().filter((quota) => limitsRuns(quota) && appliesTo(quota, principal));
  }

  /** Returns whether the run was not admitted before. */
  async #admitTo(
    quota: Quota,
    principal: Principal,
    runId: string,
    signal: AbortSignal,
  ): Promise<boolean> {
    const nowMs = this.#ports.clock.now();
    return await this.#counts.change(keyOf(quota, principal), signal, async (before) => {
      if (before.admitted.some((known) => known.runId === runId && isRecent(known, nowMs))) {
        return undefined;
      }
      const { runsPerDay = Infinity } = quota;
      if (before.runsOfDay >= runsPerDay) throw dayIsUsedUp(quota, principal, runsPerDay, nowMs);
      const kept = await this.#keptOf(quota, principal, before, signal);
      const { day } = before;
      const admission = create(AdmittedRunSchema, { runId, time: timestampFromMs(nowMs), day });
      const others = kept.filter((known) => known.runId !== runId);
      return { ...before, runsOfDay: before.runsOfDay + 1, admitted: [...others, admission] };
    });
  }

  /** Returns the admissions that are still needed. Throws a Failure if there is no room for another run. */
  async #keptOf(
    quota: Quota,
    principal: Principal,
    { admitted }: QuotaUsage,
    signal: AbortSignal,
  ): Promise<readonly AdmittedRun[]> {
    const { openRuns: max } = quota;
    const nowMs = this.#ports.clock.now();
    if (max === undefined) {
      return admitted.filter((known) => isRecent(known, nowMs)).slice(-maxKept);
    }
    const runIds = admitted.map(({ runId }) => runId);
    // After the read of the admissions: what has left them is in the index.
    const known = { runIds, limit: max };
    const { count, missing } = await this.#ports.countOpen(
      ownersOf(quota, principal),
      known,
      signal,
    );
    const unindexed = new Set(missing);
    const pending: AdmittedRun[] = [];
    for (const each of admitted.filter(({ runId }) => unindexed.has(runId))) {
      const isPending =
        isRecent(each, nowMs) || (await this.#ports.exists(principal.tenant, each.runId, signal));
      if (isPending) pending.push(each);
    }
    if (count + pending.length >= max) throw noOpenRunLeft(quota, principal, max);
    return pending;
  }

  async #forget(
    quota: Quota,
    principal: Principal,
    runId: string,
    why: "refused" | "deleted",
    signal: AbortSignal,
  ): Promise<void> {
    await this.#counts.change(keyOf(quota, principal), signal, async (before) => {
      const known = before.admitted.find((each) => each.runId === runId);
      if (known === undefined) return undefined;
      const isOfDay = why === "refused" && known.day === before.day;
      return await Promise.resolve({
        ...before,
        admitted: before.admitted.filter((each) => each !== known),
        runsOfDay: Math.max(0, before.runsOfDay - (isOfDay ? 1 : 0)),
      });
    });
  }
}

function keyOf(quota: Quota, principal: Principal): string {
  return usageKey({ tenant: principal.tenant, counter: counterOf(quota, principal) });
}

/** Returns whose open runs a quota counts together. */
function ownersOf({ per, subjects }: Quota, { tenant, subject }: Principal): RunOwners {
  return { tenant, subjects: per === "subject" ? new Set([subject]) : subjects };
}

function isRecent({ time }: AdmittedRun, nowMs: number): boolean {
  return time !== undefined && timestampMs(time) > nowMs - admissionMs;
}
