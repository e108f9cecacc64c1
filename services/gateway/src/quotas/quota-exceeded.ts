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
