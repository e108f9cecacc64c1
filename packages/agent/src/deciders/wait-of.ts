import { durationMs } from "@bufbuild/protobuf/wkt";
import type { AgentSpec, ApprovalPolicy, ApprovalWait } from "@reeve/contracts/agent";
import type { Violation } from "@reeve/platform/failure";
import { parseNamePattern } from "../tools/name-pattern.ts";

/** Returns how long a call of a tool waits at least for its approval by the policy of its agent, in milliseconds. */
export function agentWaitMs(
  policy: Pick<ApprovalPolicy, "waits"> | undefined,
  tool: string,
): number {
  const applying = (policy?.waits ?? []).filter((each) => namesTool(each, tool));
  return Math.max(0, ...applying.map(({ wait }) => (wait ? durationMs(wait) : 0)));
}

/** A pattern that cannot be read names every tool: a wait must not end because of a mistake. */
function namesTool({ tools }: ApprovalWait, tool: string): boolean {
  if (tools.length === 0) return true;
  return tools.some((text) => parseNamePattern(text)?.matches(tool) ?? true);
}

/** Returns the violations of the waits of a policy. */
export function waitProblems({ waits, timeout }: ApprovalPolicy): readonly Violation[] {
  return waits.flatMap(({ tools, wait }, index) => {
    const field = `approval_policy.waits[${index}]`;
    const malformed = tools.flatMap((text, at) =>
      parseNamePattern(text) === undefined
        ? [
            {
              field: `${field}.tools[${at}]`,
              description: `"${text}" is empty or ends with an escape character`,
              reason: "MALFORMED",
            },
          ]
        : [],
    );
    if (wait === undefined || timeout === undefined || durationMs(wait) < durationMs(timeout))
      return malformed;
    const description =
      "is not less than approval_policy.timeout, so that approvals would expire before anyone could approve";
    return [...malformed, { field: `${field}.wait`, description, reason: "UNSATISFIABLE" }];
  });
}

/**
 * Returns the violations of a timeout that is not longer than the operator's wait for a tool which needs an approval: nobody could
 * approve its calls.
 */
export function operatorWaitProblems(
  { id, hitlTools, approvalPolicy }: Pick<AgentSpec, "id" | "hitlTools" | "approvalPolicy">,
  waitMs: (agentId: string, tool: string) => number = () => 0,
): readonly Violation[] {
  const timeout = approvalPolicy?.timeout;
  if (timeout === undefined) return [];
  const timeoutMs = Math.max(durationMs(timeout), 1);
  const tools = hitlTools.filter((tool) => waitMs(id, tool) >= timeoutMs);
  if (tools.length === 0) return [];
  const waits = Math.max(...tools.map((tool) => waitMs(id, tool))) / 1_000;
  const description = `is not longer than the ${waits} s that calls of ${tools.join(", ")} wait by the operator's policy, so that approvals would expire before anyone could approve`;
  return [{ field: "approval_policy.timeout", description, reason: "UNSATISFIABLE" }];
}

/** Returns warnings about waits that are for no tool of the agent. */
export function waitWarnings(
  policy: Pick<ApprovalPolicy, "waits"> | undefined,
  tools: readonly { readonly name: string }[],
): readonly string[] {
  return (policy?.waits ?? []).flatMap((each, index) =>
    each.tools.length === 0 || tools.some(({ name }) => namesTool(each, name))
      ? []
      : [
          `approval_policy.waits[${index}]: the agent has no tool that ${each.tools.join(", ")} names`,
        ],
  );
}
