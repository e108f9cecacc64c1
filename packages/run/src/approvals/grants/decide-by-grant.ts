import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Grant } from "@reeve/contracts/approval";
import { ApprovalState, DecisionSchema } from "@reeve/contracts/approval";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import { appendExternal } from "../../commands/append-external.ts";
import { approvalOf } from "../../head/run-head.ts";
import type { DecidingPorts } from "../decide-approval.ts";
import { isClosed } from "../assert-open.ts";
import { castVote } from "../votes/count-vote.ts";
import { grantedAlternatives, grantProblem } from "./grant-problem.ts";

/**
 * Decides an approval by a grant, by a fact in the log of its run that names the grant and who made it. Returns whether the grant
 * decided it, now or before; not, if it is closed otherwise, or the grant does not apply. The caller has reserved the use.
 */
export async function decideByGrant(
  { log, dispatch, clock }: DecidingPorts,
  key: RunKey,
  { grant, approvalId }: { readonly grant: Grant; readonly approvalId: string },
  signal: AbortSignal,
): Promise<boolean> {
  const { grantId, rule, scope, grantedBy } = grant;
  const after = await appendExternal(
    { log, dispatch },
    key,
    (before) => {
      const approval = approvalOf(before, approvalId);
      if (approval === undefined || isClosed(approval, before, clock.now())) return [];
      if (grantProblem(grant, approval, before) !== undefined) return [];
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
  return (
    approval?.state !== ApprovalState.PENDING &&
    approval?.decision?.decisionId === decisionIdOf(grantId, approvalId)
  );
}

function decisionIdOf(grantId: string, approvalId: string): string {
  return `${grantId}:${approvalId}`;
}
