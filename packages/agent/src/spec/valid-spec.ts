import type { AgentSpec } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import type { FailureKind, Violation } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import { listViolations, shortened } from "@reeve/platform/list-violations";
import type { CheckedSpec } from "./check-spec.ts";
import { unsupportedCapability } from "./unsupported-capability.ts";

/** A checked spec. The spec is undefined if a request has none; then there are violations. */
export type CheckedRequest = Partial<Pick<CheckedSpec, "spec">> & Omit<CheckedSpec, "spec">;

/** Returns a spec that has no violations, with its warnings. Throws a Failure that lists all violations otherwise. */
export function validSpec({ spec, violations, warnings }: CheckedRequest): {
  readonly spec: AgentSpec;
  readonly warnings: readonly string[];
} {
  if (spec !== undefined && violations.length === 0) return { spec, warnings };
  const message = `agent ${shortened(spec?.id ?? "", 100)} is not valid: ${listViolations(violations)}`;
  throw new Failure(...refusalOf(violations), message, { violations });
}

/** A spec that only asks for what this version does not have is unsupported, not invalid. */
function refusalOf(violations: readonly Violation[]): readonly [FailureKind, ErrorReason] {
  const areAll = (name: string) => violations.every(({ reason }) => reason === name);
  if (areAll(unsupportedCapability)) return ["unsupported", ErrorReason.UNSUPPORTED_CAPABILITY];
  if (areAll("UNSUPPORTED_REMOTE_BACKEND")) {
    return ["unsupported", ErrorReason.UNSUPPORTED_REMOTE_BACKEND];
  }
  return ["invalid", ErrorReason.INVALID_AGENT];
}
