import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type {
  DecideApprovalsRequest,
  DecidedApproval,
  DecisionErrorSchema,
  DecisionResult,
} from "@reeve/contracts/approval";
import { DecideApprovalRequestSchema, DecisionResultSchema } from "@reeve/contracts/approval";
import { Semaphore } from "@reeve/platform/async/coordination/semaphore";
import { Failure } from "@reeve/platform/failure";
import { codeName } from "@reeve/platform/rpc/outcome/code-name";
import { connectErrorOf } from "@reeve/platform/rpc/connect-failure";
import { reasonName } from "@reeve/platform/reason-name";
import type { DecidingPorts } from "@reeve/run/approvals/decide-approval";
import { decideApproval } from "@reeve/run/approvals/decide-approval";
import { staleDeadline } from "@reeve/run/approvals/stale-reads";
import type { Decider } from "@reeve/run/approvals/votes/may-decide";

/** How many of the decisions of a request are made at a time. */
const maxConcurrent = 10;

/**
 * Decides several approvals alike, each as if the request were about it alone. A decision that is refused is a result, and
 * leaves the others as they are. An error that is none of these is thrown when all have ended.
 */
export async function decideApprovals(
  ports: DecidingPorts,
  decider: Decider,
  request: DecideApprovalsRequest,
  signal: AbortSignal,
): Promise<DecisionResult[]> {
  const turns = new Semaphore(maxConcurrent);
  // One for all: approvals that nobody has must not add up to more time than clients wait.
  const searched = { ...ports, staleUntilMs: staleDeadline(ports) };
  const { approved, reason, decisionId } = request;
  const decide = async ({ approvalId, callDigest }: DecidedApproval): Promise<DecisionResult> => {
    using _ = await turns.acquire(signal);
    const one = { approvalId, callDigest, approved, reason, decisionId };
    try {
      const decision = create(DecideApprovalRequestSchema, one);
      const { runId, state } = await decideApproval(searched, decider, decision, signal);
      return create(DecisionResultSchema, { approvalId, runId, state });
    } catch (error) {
      if (signal.aborted || !(error instanceof Failure)) throw error;
      return create(DecisionResultSchema, { approvalId, error: decisionErrorOf(error) });
    }
  };
  const results = await Promise.allSettled(request.decided.map(decide));
  return results.map((result) => {
    if (result.status === "rejected") throw result.reason;
    return result.value;
  });
}

function decisionErrorOf(failure: Failure): MessageInitShape<typeof DecisionErrorSchema> {
  const { code, rawMessage } = connectErrorOf(failure);
  return { code: codeName(code), reason: reasonName(failure.reason), message: rawMessage };
}
