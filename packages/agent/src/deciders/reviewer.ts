import type { ApprovalPolicy, Reviewer } from "@reeve/contracts/agent";
import type { Violation } from "@reeve/platform/failure";
import { parseNamePattern } from "../tools/name-pattern.ts";

/** Returns the reviewer of calls of a tool, or undefined. */
export function reviewerOf(
  policy: Pick<ApprovalPolicy, "reviewer"> | undefined,
  tool: string,
): Reviewer | undefined {
  const reviewer = policy?.reviewer;
  if (reviewer === undefined || reviewer.tools.length === 0) return reviewer;
  const isNamed = reviewer.tools.some((text) => parseNamePattern(text)?.matches(tool) ?? false);
  return isNamed ? reviewer : undefined;
}

/** Returns the violations of the reviewer of a policy. */
export function reviewerProblems({ reviewer }: ApprovalPolicy): readonly Violation[] {
  return (reviewer?.tools ?? []).flatMap((text, index) =>
    parseNamePattern(text) === undefined
      ? [
          {
            field: `approval_policy.reviewer.tools[${index}]`,
            description: `"${text}" is empty or ends with an escape character`,
            reason: "MALFORMED",
          },
        ]
      : [],
  );
}
