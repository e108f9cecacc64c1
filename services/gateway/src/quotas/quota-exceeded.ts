import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { Principal } from "@reeve/platform/rpc/principal";
import { counter } from "@reeve/platform/telemetry/metrics";
import type { LimitName, Quota } from "./quota.ts";

const refusals = counter({
  name: "reeve_quota_refusals_total",
  help: "Requests that a quota refused.",
  labels: ["quota", "limit"],
});

export interface Exceeded {
  readonly limit: LimitName;
  readonly max: number;
  /** What it allows, such as `20 open runs`. */
  readonly allows: string;
  /** What the caller can do besides asking the operator. */
  readonly advice: string;
  readonly retryAfterMs: number;
}

/** Counts a refusal, and returns its Failure. */
export function quotaExceeded(
  { name, per }: Quota,
  { tenant, subject }: Principal,
  { limit, max, allows, advice, retryAfterMs }: Exceeded,
): Failure {
  refusals.inc({ quota: name, limit });
  const whose = per === "tenant" ? `tenant ${tenant}` : `${subject} of tenant ${tenant}`;
  return new Failure(
    "exhausted",
    ErrorReason.QUOTA_EXCEEDED,
    `quota ${name} allows ${whose} ${allows}; ${advice}, or ask the operator for more`,
    { metadata: { quota: name, limit, max: String(max) }, retryAfterMs },
  );
}

/** When a client should ask again for a run that needs the end of another, and for room that a deletion gives back. */
const openRetryMs = 5_000;
const bytesRetryMs = 60_000;
const dayMs = 86_400_000;

/** Returns the Failure of a quota whose open runs are used up. */
export function noOpenRunLeft(quota: Quota, principal: Principal, max: number): Failure {
  return quotaExceeded(quota, principal, {
    limit: "open_runs",
    max,
    allows: counted(max, "open run"),
    advice: "wait until one ends, or cancel one",
    retryAfterMs: openRetryMs,
  });
}

/** Returns the Failure of a quota whose queue is full. */
export function queueIsFull(quota: Quota, principal: Principal, max: number): Failure {
  return quotaExceeded(quota, principal, {
    limit: "queued_runs",
    max,
    allows: counted(max, "queued run"),
    advice: "wait until a worker takes one, or cancel one",
    retryAfterMs: openRetryMs,
  });
}

/** Returns the Failure of a quota whose runs of the day are used up. */
export function dayIsUsedUp(
  quota: Quota,
  principal: Principal,
  max: number,
  nowMs: number,
): Failure {
  return quotaExceeded(quota, principal, {
    limit: "runs_per_day",
    max,
    allows: `${counted(max, "run")} per day`,
    advice: "start the next one after midnight UTC",
    retryAfterMs: msToMidnight(nowMs),
  });
}

/** Returns the Failure of a quota whose runs have cost what they may cost on one day. */
export function costIsUsedUp(
  quota: Quota,
  principal: Principal,
  max: number,
  nowMs: number,
): Failure {
  return quotaExceeded(quota, principal, {
    limit: "cost_per_day_usd",
    max,
    allows: `runs for ${max} US dollars per day, which are spent`,
    advice: "start the next one after midnight UTC",
    retryAfterMs: msToMidnight(nowMs),
  });
}

/** Returns the Failure of a quota whose bytes are stored. */
export function bytesAreUsedUp(quota: Quota, principal: Principal, max: number): Failure {
  return quotaExceeded(quota, principal, {
    limit: "artifact_bytes",
    max,
    allows: `${max} bytes of artifacts`,
    advice: "delete artifacts or runs that nobody needs",
    retryAfterMs: bytesRetryMs,
  });
}

/** Returns the Failure of a quota whose bytes of collections are stored. */
export function collectionBytesAreUsedUp(quota: Quota, principal: Principal, max: number): Failure {
  return quotaExceeded(quota, principal, {
    limit: "collection_bytes",
    max,
    allows: `${max} bytes of texts and embeddings of collections`,
    advice: "delete documents or collections that nobody needs",
    retryAfterMs: bytesRetryMs,
  });
}

/** Returns the Failure of a quota whose documents are stored. */
export function documentsAreUsedUp(quota: Quota, principal: Principal, max: number): Failure {
  return quotaExceeded(quota, principal, {
    limit: "documents",
    max,
    allows: `${counted(max, "document")} of collections`,
    advice: "delete documents or collections that nobody needs",
    retryAfterMs: bytesRetryMs,
  });
}

/** Returns the Failure of a subject that has too many uploads in progress. */
export function tooManyUploads(quota: Quota, principal: Principal, max: number): Failure {
  return quotaExceeded(quota, principal, {
    limit: "uploads",
    max,
    allows: `${counted(max, "upload")} of one caller at a time`,
    advice: "wait until one has ended",
    retryAfterMs: openRetryMs,
  });
}

function msToMidnight(nowMs: number): number {
  return dayMs - (nowMs % dayMs);
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
