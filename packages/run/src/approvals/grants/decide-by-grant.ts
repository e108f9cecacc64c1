import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Grant } from "@reeve/contracts/approval";
import { ApprovalState, DecisionSchema } from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import { Failure } from "@reeve/platform/failure";
import { appendExternal } from "../../commands/append-external.ts";
import { approvalOf } from "../../head/run-head.ts";
import { isTerminal } from "../../head/run-status.ts";
import type { DecidingPorts } from "../decide-approval.ts";
import { isClosed } from "../assert-open.ts";
import { needsPasskey } from "@reeve/agent/approval-times/needs-passkey";
import { decisionTime, tooEarly } from "../times/decidable.ts";
import { castVote } from "../votes/count-vote.ts";
import { grantedAlternatives, grantProblem, isUsable } from "./grant-problem.ts";

/**
 * What is known after an attempt: the grant has decided the approval, now or before; the log shows that something else has closed it;
 * or neither, because the grant does not apply, the call cannot be approved yet, something has expired, or the log as it was read may be old.
 */
export type GrantOutcome = "decided" | "closed" | "open";

/** A grant as it was read. */
export interface ReadGrant {
  readonly grant: Grant;
  /** When it was read, at the latest. */
  readonly readMs: number;
}

/** How long after a grant was read it decides: it may be revoked at any moment. */
export const maxGrantAgeMs = 5_000;

/**
 * Decides an approval by a grant, by a fact in the log of its run that names the grant and who made it. The caller has reserved the use, and may
 * give it back only if the approval is closed: another process may have decided with it otherwise. Throws a Failure of kind
 * `unavailable` if the grant was read too long ago to decide with it.
 */
export async function decideByGrant(
  { log, dispatch, clock, times }: DecidingPorts,
  key: RunKey,
  { grant, readMs, approvalId }: ReadGrant & { readonly approvalId: string },
  signal: AbortSignal,
): Promise<GrantOutcome> {
  const { grantId, rule, scope, grantedBy } = grant;
  const after = await appendExternal(
    { log, dispatch },
    key,
    (before) => {
      const approval = approvalOf(before, approvalId);
      if (!isUsable(grant, approvalId, clock.now())) return [];
      if (approval === undefined || isClosed(approval, before, clock.now())) return [];
      const agentPolicy = before.created?.spec?.approvalPolicy;
      const rules = { tenant: key.tenant, times: times?.(), agentPolicy };
      if (tooEarly(approval, decisionTime(rules, clock.now())) !== undefined) return [];
      if (grantProblem(grant, approval, before) !== undefined) return [];
      // A grant stands for a decision that nobody makes at the time: nobody confirms it.
      const passkeys = { tenant: key.tenant, times: times?.(), head: before };
      if (needsPasskey(approval, passkeys)) return [];
      if (clock.now() - readMs > maxGrantAgeMs) throw readTooLongAgo(grantId);
      const decision = create(DecisionSchema, {
        decisionId: decisionIdOf(grantId, approvalId),
        approved: true,
        decidedBy: grantedBy,
        decidedAt: timestampFromMs(clock.now()),
        appliedGrant: { grantId, rule, scope },
      });
      const names = grantedAlternatives(grant, approval);
      const decided = castVote(approval, decision, (each) => names.has(each.name));
      return [{ case: "approval", value: { approval: decided } }];
    },
    signal,
  );
  const approval = approvalOf(after, approvalId);
  const isPending = approval === undefined || approval.state === ApprovalState.PENDING;
  if (isPending) return isTerminal(after.status) ? "closed" : "open";
  return approval.decision?.decisionId === decisionIdOf(grantId, approvalId) ? "decided" : "closed";
}

function decisionIdOf(grantId: string, approvalId: string): string {
  return `${grantId}:${approvalId}`;
}

function readTooLongAgo(grantId: string): Failure {
  return new Failure(
    "unavailable",
    ErrorReason.UNAVAILABLE,
    `grant ${grantId} was read more than ${maxGrantAgeMs / 1_000} seconds ago, and may be revoked; read it again`,
  );
}
