import { create } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { bucketOf } from "@reeve/contracts/channel";
import type { AdmittedRun, QuotaUsage } from "@reeve/contracts/quota";
import { AdmittedRunSchema, QuotaUsageSchema } from "@reeve/contracts/quota";
import type { Principal } from "@reeve/platform/rpc/principal";
import type { OpenRuns } from "../app/list-runs.ts";
import type { Owners, Quota } from "./quota.ts";
import { appliesTo, counterOf, limitsRuns, ownersOf } from "./quota.ts";
import {
  bytesAreUsedUp,
  costIsUsedUp,
  dayIsUsedUp,
  noOpenRunLeft,
  queueIsFull,
} from "./quota-exceeded.ts";
import type { QuotaCountsOptions } from "./quota-counts.ts";
import { dayMs, QuotaCounts } from "./quota-counts.ts";

/** How long a run that was admitted may take to be created and indexed, before its log is asked whether it exists. */
const admissionMs = 60_000;
/** How many admissions are kept for a quota without a limit of open runs, so that they can be withdrawn. */
const maxKept = 500;
/** How many deleted runs are known to be in the cost of a day. One that is deleted again after as many others counts twice. */
const maxDeleted = 500;

export interface RunQuotaPorts extends QuotaCountsOptions {
  /** Returns the quotas that are in force. */
  quotas(): readonly Quota[];
  /** Counts the runs of a tenant, or of some subjects of it, that have not ended, each count up to `limit`. */
  countOpen(
    of: Owners,
    known: { readonly runIds: readonly string[]; readonly limit: number },
    signal: AbortSignal,
  ): Promise<OpenRuns>;
  /** Returns what their runs have cost that ended at `fromMs` or later, in US dollars. */
  costOf(of: Owners, fromMs: number, signal: AbortSignal): Promise<number>;
  /** Returns how many bytes of artifacts they have. */
  bytesOf(of: Owners, signal: AbortSignal): Promise<number>;
  /** Whether a run has a log. */
  exists(tenant: string, runId: string, signal: AbortSignal): Promise<boolean>;
}

/** A run that has ended, and what it cost. */
export interface EndedRun {
  readonly runId: string;
  readonly endedAtMs: number;
  readonly costUsd: number;
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
    if (applying.some(countsOpenRuns)) {
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
        await this.#assertRoom(quota, principal, signal);
        if (!countsRuns(quota)) continue;
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

  /** Keeps the cost of a run that is being deleted in the cost of its day, once for each run. */
  async keepCost(
    principal: Principal,
    { runId, endedAtMs, costUsd }: EndedRun,
    signal: AbortSignal,
  ): Promise<void> {
    if (costUsd === 0) return;
    for (const quota of this.#applyingTo(principal)) {
      if (quota.costPerDayUsd === undefined) continue;
      await this.#counts.change(keyOf(quota, principal), signal, async (before) => {
        const isOfDay = Math.floor(endedAtMs / dayMs) >= before.day;
        if (!isOfDay || before.deletedRunIds.includes(runId)) return undefined;
        return await Promise.resolve({
          ...before,
          deletedCostUsd: before.deletedCostUsd + costUsd,
          deletedRunIds: [...before.deletedRunIds, runId].slice(-maxDeleted),
        });
      });
    }
  }

  #applyingTo(principal: Principal): readonly Quota[] {
    return this.#ports.quotas().filter((quota) => limitsRuns(quota) && appliesTo(quota, principal));
  }

  /** Throws a Failure if what the owners have used already leaves no room for another run. */
  async #assertRoom(quota: Quota, principal: Principal, signal: AbortSignal): Promise<void> {
    const { costPerDayUsd, artifactBytes } = quota;
    const owners = ownersOf(quota, principal);
    if (costPerDayUsd !== undefined) {
      const nowMs = this.#ports.clock.now();
      // Before the read of the count: a run that is deleted between may count twice, and never not at all.
      const listed = await this.#ports.costOf(owners, nowMs - (nowMs % dayMs), signal);
      const { deletedCostUsd } = await this.#counts.read(keyOf(quota, principal), signal);
      if (listed + deletedCostUsd >= costPerDayUsd) {
        throw costIsUsedUp(quota, principal, costPerDayUsd, nowMs);
      }
    }
    if (artifactBytes === undefined) return;
    if ((await this.#ports.bytesOf(owners, signal)) >= artifactBytes) {
      throw bytesAreUsedUp(quota, principal, artifactBytes);
    }
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
    const { openRuns = Infinity, queuedRuns = Infinity } = quota;
    const nowMs = this.#ports.clock.now();
    if (!countsOpenRuns(quota)) {
      return admitted.filter((known) => isRecent(known, nowMs)).slice(-maxKept);
    }
    const runIds = admitted.map(({ runId }) => runId);
    // After the read of the admissions: what has left them is in the index.
    const limit = Math.max(...[openRuns, queuedRuns].filter(Number.isFinite));
    const known = { runIds, limit };
    const { open, queued, missing } = await this.#ports.countOpen(
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
    if (open + pending.length >= openRuns) throw noOpenRunLeft(quota, principal, openRuns);
    if (queued + pending.length >= queuedRuns) throw queueIsFull(quota, principal, queuedRuns);
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

/** Whether the count of a quota has the runs that it admitted. */
function countsRuns(quota: Quota): boolean {
  return quota.runsPerDay !== undefined || countsOpenRuns(quota);
}

function countsOpenRuns({ openRuns, queuedRuns }: Quota): boolean {
  return openRuns !== undefined || queuedRuns !== undefined;
}

function isRecent({ time }: AdmittedRun, nowMs: number): boolean {
  return time !== undefined && timestampMs(time) > nowMs - admissionMs;
}
