import type { Policy } from "@reeve/agent/policy/policy";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

/** Throws a Failure for an operator's policy that wants passkeys where the deployment has no address for them: nobody could approve. */
export function assertPasskeys({ approvals }: Policy, hasPasskeys: boolean): void {
  const [rule] = approvals?.stepUp ?? [];
  if (hasPasskeys || rule === undefined) return;
  const message = `approvals.step_up has "${rule.name}", but there is no address for passkeys; set REEVE_PUBLIC_URL to an https address with a host name`;
  throw new Failure("invalid", ErrorReason.INVALID_REQUEST, message, {
    violations: [{ field: "approvals.step_up", description: message, reason: "UNSATISFIABLE" }],
  });
}
