import { create } from "@bufbuild/protobuf";
import { durationMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ruleLevel } from "@reeve/agent/permission/rule-level";
import type { Approval, Decision, Grant, GrantRequest } from "@reeve/contracts/approval";
import { ApprovalState, GrantSchema, GrantScope } from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { RunHead } from "../../head/run-head.ts";
import { grantedContent, grantedSpecsOf } from "./granted-digests.ts";
import { grantIdOf } from "./grant-id.ts";
import { matchesRule } from "./matches-rule.ts";

const defaultUses = 10;
const defaultLifetimeMs = 3_600_000;

/**
 * Returns the grant that a person makes with a decision, which `decided` is the approval after. Throws a Failure if the decision alone
 * does not approve the call, or the rule is not about it: a grant permits no more than what the person may decide.
 */
export function grantOf(
  decided: Approval,
  decision: Decision,
  request: GrantRequest,
  { head, nowMs }: { readonly head: RunHead; readonly nowMs: number },
): Grant {
  const { approvalId, runId, threadId, call } = decided;
  const { created } = head;
  const { scope, rule, maxUses, lifetime } = request;
  const problem = problemOf(decided, decision, request, head);
  if (problem !== undefined) throw refused(approvalId, ...problem);
  if (created === undefined || call === undefined) throw refused(approvalId, "scope", "no call");
  return create(GrantSchema, {
    grantId: grantIdOf(approvalId),
    scope,
    rule,
    agentId: created.agentId,
    agentRevision: created.agentRevision,
    runId,
    threadId,
    approvalId,
    grantedBy: decision.decidedBy,
    grantedAt: timestampFromMs(nowMs),
    expiresAt: timestampFromMs(nowMs + (lifetime ? durationMs(lifetime) : defaultLifetimeMs)),
    maxUses: maxUses === 0 ? defaultUses : maxUses,
    alternatives: aloneBy(decided, decision),
    specDigest: grantedSpecsOf(created),
    contentDigest: grantedContent(decided),
  });
}

type Problem = readonly [field: string, description: string];

function problemOf(
  decided: Approval,
  decision: Decision,
  { scope, rule }: GrantRequest,
  head: RunHead,
): Problem | undefined {
  const { call, question, alternatives, threadId, agentId, delegateId } = decided;
  if (delegateId !== "") return ["scope", "a delegate of the agent makes the call"];
  if (question !== undefined) return ["scope", "a question is answered once"];
  if (!decision.approved) return ["scope", "a rejection is about one call"];
  if (decision.editedArguments !== undefined) {
    return ["scope", "the decision has other arguments than those of the model"];
  }
  if (scope === GrantScope.THREAD && threadId === "") return ["scope", "the run has no thread"];
  if (agentId === "") return ["scope", "the agent has no id"];
  const isAlone = alternatives.length === 0 || aloneBy(decided, decision).length > 0;
  if (!isAlone || decided.state !== ApprovalState.APPROVED) {
    return ["scope", "other people have to agree to such calls"];
  }
  const { problem } = ruleLevel(rule, "allow");
  if (problem !== undefined) return ["rule", `the rule ${problem}`];
  const [, tool] = /^\s*([A-Za-z0-9_-]+)\s*(?:\(|$)/.exec(rule) ?? [];
  if (tool === undefined || tool !== call?.name) {
    return ["rule", `the rule must begin with the name of the tool, ${call?.name ?? ""}`];
  }
  return matchesRule(rule, call, head)
    ? undefined
    : ["rule", "the rule does not match the call that is approved"];
}

/** Returns the names of the alternatives by which the person alone approved. */
function aloneBy({ alternatives, votes }: Approval, { decidedBy }: Decision): string[] {
  const vote = votes.find(({ decision }) => decision?.decidedBy === decidedBy);
  return alternatives
    .filter(({ name, approvals }) => approvals <= 1 && vote?.countsFor.includes(name))
    .map(({ name }) => name);
}

function refused(approvalId: string, field: string, why: string): Failure {
  const message = `no grant can be made with the decision of approval ${approvalId}: ${why}`;
  return new Failure("precondition", ErrorReason.INVALID_REQUEST, message, {
    metadata: { approval_id: approvalId },
    violations: [{ field: `grant.${field}`, description: why, reason: "NOT_APPLICABLE" }],
  });
}
