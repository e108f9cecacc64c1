import { durationMs } from "@bufbuild/protobuf/wkt";
import type { ApprovalPolicy } from "@reeve/contracts/agent";
import type { Violation } from "@reeve/platform/failure";

/** Returns the violations of the escalations of a policy that would never happen, or change nothing. */
export function escalationProblems({
  escalations,
  alternatives,
  timeout,
}: Pick<ApprovalPolicy, "escalations" | "alternatives" | "timeout">): readonly Violation[] {
  return escalations.flatMap(({ after, alternative }, index) => {
    const field = `approval_policy.escalations[${index}]`;
    const isLate =
      after !== undefined && timeout !== undefined && durationMs(after) >= durationMs(timeout);
    const namesPeople = (alternative?.people.length ?? 0) + (alternative?.groups.length ?? 0) > 0;
    return [
      ...(isLate
        ? [
            {
              field: `${field}.after`,
              description:
                "is not less than approval_policy.timeout, so that approvals would expire before",
              reason: "UNSATISFIABLE",
            },
          ]
        : []),
      ...(alternatives.length === 0 && namesPeople
        ? [
            {
              field: `${field}.alternative`,
              description:
                "names people who may decide from the start, because approval_policy.alternatives is empty; say there who decides first",
              reason: "CONTRADICTION",
            },
          ]
        : []),
    ];
  });
}
