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
export type LimitName = "requests_per_second" | "streams" | "open_runs" | "runs_per_day";

/** Whether a quota applies to a principal. */
export function appliesTo({ tenants, subjects }: Quota, { tenant, subject }: Principal): boolean {
  return tenants?.has(tenant) !== false && subjects?.has(subject) !== false;
}

/** Whether a quota counts runs. */
export function limitsRuns({ openRuns, runsPerDay }: Quota): boolean {
  return openRuns !== undefined || runsPerDay !== undefined;
}

/** Returns the name of the count of a quota within a tenant. It can be a token of a key. */
export function counterOf({ name, per }: Quota, { subject }: Principal): string {
  if (per === "tenant") return name;
  const digest = createHash("sha256").update(subject).digest("hex").slice(0, 32);
  return `${name}-${digest}`;
}
