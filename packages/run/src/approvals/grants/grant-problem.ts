import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { WorkBudget } from "@reeve/agent/schema/work-budget";
import type { Approval, Grant } from "@reeve/contracts/approval";
import { ApprovalState, GrantScope } from "@reeve/contracts/approval";
import type { RunHead } from "../../head/run-head.ts";
import { grantedContent, grantedSpecsOf } from "./granted-digests.ts";
import { matchesRule } from "./matches-rule.ts";

/** Whether a grant may be about an approval, as far as it is known without the log of the run. */
export function isCandidate(grant: Grant, approval: Approval, nowMs: number): boolean {
  return (
    approval.state === ApprovalState.PENDING &&
    grant.agentId === approval.agentId &&
    isInScope(grant, approval) &&
    isUsable(grant, approval.approvalId, nowMs)
  );
}

/** Whether a grant may decide one more approval, or has reserved this one. */
export function isUsable(
  { revokedAt, expiresAt, maxUses, uses }: Grant,
  approvalId: string,
  nowMs: number,
): boolean {
  if (revokedAt !== undefined || expiresAt === undefined) return false;
  const isReserved = uses.some((use) => use.approvalId === approvalId);
  return timestampMs(expiresAt) > nowMs && (isReserved || uses.length < maxUses);
}

function isInScope({ scope, runId, threadId }: Grant, approval: Approval): boolean {
  switch (scope) {
    case GrantScope.RUN:
      return runId === approval.runId;
    case GrantScope.THREAD:
      return threadId !== "" && threadId === approval.threadId;
    case GrantScope.AGENT:
      return true;
    default:
      // A scope of a newer version.
      return false;
  }
}

/**
 * Returns why a grant does not decide a pending approval, or undefined. It decides only what the person who made it could decide alone,
 * nothing that people have begun to decide, and no call with files that the person has not seen as they are.
 */
export function grantProblem(
  grant: Grant,
  approval: Approval,
  head: Pick<RunHead, "created" | "prepared">,
  work?: WorkBudget,
): string | undefined {
  const { grantId, grantedBy, agentId, agentRevision, rule } = grant;
  const not = (why: string) => `grant ${grantId} does not apply: ${why}`;
  const { question, supersedes, votes, excludedSubjects, call, delegateId } = approval;
  const { created } = head;
  if (created?.agentId !== agentId || created.agentRevision !== agentRevision) {
    return not("it is about another revision of the agent");
  }
  if (grant.specDigest !== grantedSpecsOf(created)) {
    return not(
      "it is about another agent, which had this id and revision before, or about other delegates",
    );
  }
  if (delegateId !== "") return not(`the delegate ${delegateId} of the agent makes the call`);
  if (question !== undefined) return not("it answers no questions");
  if (supersedes !== "") return not("a person looks at files that have changed");
  const content = grantedContent(approval);
  if (content !== "" && content !== grant.contentDigest) {
    return not("nobody has seen these files with the call");
  }
  if (votes.length > 0) return not("people are deciding");
  if (excludedSubjects.includes(grantedBy)) return not(`${grantedBy} may not decide`);
  if (approval.alternatives.length > 0 && grantedAlternatives(grant, approval).size === 0) {
    return not(`${grantedBy} alone may not decide`);
  }
  return matchesRule(rule, call, head, work) ? undefined : not("its rule does not match");
}

/** Returns the names of the alternatives by which a grant decides an approval. */
export function grantedAlternatives(
  { alternatives: granted }: Grant,
  { alternatives }: Approval,
): ReadonlySet<string> {
  const alone = alternatives.filter(
    ({ name, approvals }) => approvals <= 1 && granted.includes(name),
  );
  return new Set(alone.map(({ name }) => name));
}
