import { createHash } from "node:crypto";
import type { Principal } from "@reeve/platform/rpc/principal";

/** What a quota limits. Undefined: without a limit. */
interface QuotaLimits {
  /** Requests per second that one gateway accepts, with as many at once as it accepts in two seconds. */
  readonly requestsPerSecond?: number | undefined;
  /** Streams of requests or answers that are open at one gateway. */
  readonly streams?: number | undefined;
  /** Runs that have not ended, at all gateways together. */
  readonly openRuns?: number | undefined;
  /** Runs that are started on one day in UTC, at all gateways together. */
  readonly runsPerDay?: number | undefined;
  /** Runs that no worker has taken yet, at all gateways together. */
  readonly queuedRuns?: number | undefined;
  /** What runs cost that end on one day in UTC, in US dollars. No run is admitted once they have cost as much. */
  readonly costPerDayUsd?: number | undefined;
  /** Bytes of stored artifacts. No upload exceeds them; no run is admitted once they are stored. */
  readonly artifactBytes?: number | undefined;
  /** Bytes of the texts and embeddings of collections. No document exceeds them. */
  readonly collectionBytes?: number | undefined;
  /** Documents of collections. */
  readonly documents?: number | undefined;
}

/** A limit of the operator on what a tenant, or one subject of it, uses. */
export interface Quota extends QuotaLimits {
  readonly name: string;
  /** Undefined: it applies to every tenant, and each has its own count. */
  readonly tenants: ReadonlySet<string> | undefined;
  /** Undefined: it applies to every subject. */
  readonly subjects: ReadonlySet<string> | undefined;
  /** Whether the subjects of a tenant share one count, or each has its own. */
  readonly per: "tenant" | "subject";
}

/** The name of each limit in the file of quotas, in errors, and in metrics. */
export type LimitName =
  | "requests_per_second"
  | "streams"
  | "open_runs"
  | "runs_per_day"
  | "queued_runs"
  | "cost_per_day_usd"
  | "artifact_bytes"
  | "collection_bytes"
  | "documents"
  | "uploads";

/** Whether a quota applies to a principal. */
export function appliesTo({ tenants, subjects }: Quota, { tenant, subject }: Principal): boolean {
  return tenants?.has(tenant) !== false && subjects?.has(subject) !== false;
}

/** Whether a quota limits the start of runs. */
export function limitsRuns({
  openRuns,
  runsPerDay,
  queuedRuns,
  costPerDayUsd,
  artifactBytes,
}: Quota): boolean {
  return [openRuns, runsPerDay, queuedRuns, costPerDayUsd, artifactBytes].some(
    (limit) => limit !== undefined,
  );
}

/** Returns whose runs, artifacts, and collections a quota counts together. */
export function ownersOf({ per, subjects }: Quota, { tenant, subject }: Principal): Owners {
  return { tenant, subjects: per === "subject" ? new Set([subject]) : subjects };
}

/** A tenant, or some subjects of it. */
export interface Owners {
  readonly tenant: string;
  readonly subjects: ReadonlySet<string> | undefined;
}

/** Returns the name of the count of a quota within a tenant. It can be a token of a key. */
export function counterOf({ name, per }: Quota, { subject }: Principal): string {
  if (per === "tenant") return name;
  const digest = createHash("sha256").update(subject).digest("hex").slice(0, 32);
  return `${name}-${digest}`;
}
