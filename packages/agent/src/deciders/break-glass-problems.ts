import type { ApprovalPolicy } from "@reeve/contracts/agent";
import type { Violation } from "@reeve/platform/failure";
import { isUnknownRole } from "./unknown-role.ts";

/** Returns the violations of the break-glass rule of a policy. */
export function breakGlassProblems({
  breakGlass,
}: Pick<ApprovalPolicy, "breakGlass">): readonly Violation[] {
  if (breakGlass === undefined) return [];
  const field = "approval_policy.break_glass";
  const { people, groups } = breakGlass;
  const unknown = groups.filter(isUnknownRole).map((group) => ({
    field: `${field}.groups`,
    description: `"${group}" names no role`,
    reason: "MALFORMED",
  }));
  if (people.length + groups.length > 0) return unknown;
  const description = "names nobody; add people or groups, or leave it out";
  return [{ field, description, reason: "UNSATISFIABLE" }];
}
