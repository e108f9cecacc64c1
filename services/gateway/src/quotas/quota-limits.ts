import type { MessageInitShape } from "@bufbuild/protobuf";
import { bucketOf } from "@reeve/contracts/channel";
import type { QuotaLimitSchema } from "@reeve/contracts/operations";
import { QuotaUsageSchema } from "@reeve/contracts/quota";
import type { Principal } from "@reeve/platform/rpc/principal";
import type { OpenRuns } from "../app/list-runs.ts";
import type { DocumentQuotaPorts } from "./document-quotas.ts";
import type { LimitName, Owners, Quota } from "./quota.ts";
import { appliesTo, counterOf, ownersOf } from "./quota.ts";
import { dayMs, QuotaCounts } from "./quota-counts.ts";
import type { RunQuotaPorts } from "./run-quotas.ts";

/** How many runs are counted. No limit of open or queued runs is higher. */
const maxCounted = 10_000;

type Limit = Exclude<MessageInitShape<typeof QuotaLimitSchema>, { readonly $typeName: string }>;

const { key: usageKey } = bucketOf(QuotaUsageSchema);

type QuotaLimitPorts = Omit<RunQuotaPorts, "exists"> & Pick<DocumentQuotaPorts, "documentsOf">;

/** The quotas of a principal, and what is used of them, for people who look. Admits and refuses nothing. */
export class QuotaLimits {
  readonly #ports: QuotaLimitPorts;
  readonly #counts: QuotaCounts;

  constructor(ports: QuotaLimitPorts) {
    this.#ports = ports;
    this.#counts = new QuotaCounts(ports);
  }

  /** Returns each limit that applies to a principal, in the order of the quotas. */
  async of(principal: Principal, signal: AbortSignal): Promise<readonly Limit[]> {
    const applying = this.#ports.quotas().filter((quota) => appliesTo(quota, principal));
    const limits: Limit[] = [];
    // One after the other: each may have to read an index.
    for (const quota of applying) limits.push(...(await this.#limitsOf(quota, principal, signal)));
    return limits;
  }

  async #limitsOf(
    quota: Quota,
    principal: Principal,
    signal: AbortSignal,
  ): Promise<readonly Limit[]> {
    const owners = ownersOf(quota, principal);
    const { openRuns, queuedRuns, runsPerDay, costPerDayUsd, artifactBytes } = quota;
    const { collectionBytes, documents } = quota;
    const limits: Limit[] = [];
    const add = (limit: LimitName, max: number | undefined, used?: number) => {
      if (max === undefined) return;
      const perSubject = quota.per === "subject";
      const known = used === undefined ? {} : { used };
      limits.push({ quota: quota.name, limit, max, perSubject, ...known });
    };
    add("requests_per_second", quota.requestsPerSecond);
    add("streams", quota.streams);
    if (openRuns !== undefined || queuedRuns !== undefined) {
      const { open, queued } = await this.#openRuns(owners, signal);
      add("open_runs", openRuns, open);
      add("queued_runs", queuedRuns, queued);
    }
    if (runsPerDay !== undefined || costPerDayUsd !== undefined) {
      const counter = counterOf(quota, principal);
      const key = usageKey({ tenant: principal.tenant, counter });
      const { runsOfDay, deletedCostUsd } = await this.#counts.read(key, signal);
      add("runs_per_day", runsPerDay, runsOfDay);
      if (costPerDayUsd !== undefined) {
        const nowMs = this.#ports.clock.now();
        const listed = await this.#ports.costOf(owners, nowMs - (nowMs % dayMs), signal);
        add("cost_per_day_usd", costPerDayUsd, listed + deletedCostUsd);
      }
    }
    if (artifactBytes !== undefined) {
      add("artifact_bytes", artifactBytes, await this.#ports.bytesOf(owners, signal));
    }
    if (collectionBytes !== undefined || documents !== undefined) {
      const stored = await this.#ports.documentsOf(owners, signal);
      add("collection_bytes", collectionBytes, stored.bytes);
      add("documents", documents, stored.documents);
    }
    return limits;
  }

  async #openRuns(owners: Owners, signal: AbortSignal): Promise<OpenRuns> {
    return await this.#ports.countOpen(owners, { runIds: [], limit: maxCounted }, signal);
  }
}
