import type { ApprovalPolicy } from "@reeve/contracts/agent";
import type { PermissionClass } from "@reeve/contracts/tool";
import type { Violation } from "@reeve/platform/failure";
import { parseNamePattern } from "../tools/name-pattern.ts";
import { nameOfClass, permissionClassOf } from "../tools/permission-classes.ts";

/** A call as policies select it for a passkey. */
export interface ClassifiedCall {
  readonly tool: string;
  /** Undefined: it is not known, and every class selects it. */
  readonly permissionClass: PermissionClass | undefined;
}

/** Whether people approve a call only with a passkey by the policy of its agent. A pattern that cannot be read selects every tool. */
export function agentNeedsPasskey(
  policy: Pick<ApprovalPolicy, "stepUp"> | undefined,
  { tool, permissionClass }: ClassifiedCall,
): boolean {
  const stepUp = policy?.stepUp;
  if (stepUp === undefined) return false;
  const { tools, classes } = stepUp;
  // A policy of this version names one of them; without any, it selects everything.
  if (tools.length === 0 && classes.length === 0) return true;
  if (tools.some((text) => parseNamePattern(text)?.matches(tool) ?? true)) return true;
  return permissionClass === undefined
    ? classes.length > 0
    : classes.includes(nameOfClass(permissionClass));
}

/** Returns the violations of the calls for which a policy wants a passkey. */
export function stepUpProblems(
  policy: Pick<ApprovalPolicy, "stepUp"> | undefined,
  hasPasskeys: boolean,
): readonly Violation[] {
  const stepUp = policy?.stepUp;
  if (stepUp === undefined) return [];
  const field = "approval_policy.step_up";
  const violation = (at: string, description: string, reason: string) => ({
    field: `${field}${at}`,
    description,
    reason,
  });
  const { tools, classes } = stepUp;
  const isEmpty = tools.length === 0 && classes.length === 0;
  return [
    ...(isEmpty
      ? [violation("", "selects nothing; add tools or classes, or leave it out", "REQUIRED")]
      : []),
    ...tools.flatMap((text, index) =>
      parseNamePattern(text) === undefined
        ? violation(
            `.tools[${index}]`,
            `"${text}" is empty or ends with an escape character`,
            "MALFORMED",
          )
        : [],
    ),
    ...classes.flatMap((name, index) =>
      permissionClassOf(name) === undefined
        ? violation(`.classes[${index}]`, `"${name}" is no permission class`, "UNKNOWN")
        : [],
    ),
    ...(hasPasskeys
      ? []
      : [
          violation(
            "",
            "nobody could approve: this deployment has no address for passkeys; ask the operator to set REEVE_PUBLIC_URL of gateway and approvals to an https address",
            "UNSATISFIABLE",
          ),
        ]),
  ];
}
