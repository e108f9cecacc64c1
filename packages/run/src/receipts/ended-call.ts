import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { CallHistory, EndedCall } from "./call-history.ts";
import { isClosed } from "./call-history.ts";

/** Returns the history of a call that has a receipt. Throws a Failure that says why it has none. */
export function endedCall(runId: string, history: CallHistory): EndedCall {
  const { callId, created, requested, end, approvals } = history;
  const metadata = { run_id: runId, call_id: callId };
  if (created === undefined || requested === undefined) {
    const known = history.callsWithApproval;
    const others =
      known.length === 0
        ? "nobody was asked about a call of this run"
        : `calls that people were asked about: ${known.join(", ")}`;
    const message = `run ${runId} has no call ${callId}; ${others}`;
    throw new Failure("not_found", ErrorReason.CALL_NOT_FOUND, message, { metadata });
  }
  if (!isClosed(history)) {
    const message = `call ${callId} has no result yet, and therefore no receipt; wait until it has ended`;
    throw new Failure("precondition", ErrorReason.CALL_NOT_ENDED, message, { metadata });
  }
  if (![...approvals.values()].some(({ decision }) => decision !== undefined)) {
    const before = end === undefined ? "" : " before the run ended";
    const message = `neither a person nor a grant decided on call ${callId}${before}, and it therefore has no receipt; the log of the run has its events`;
    throw new Failure("precondition", ErrorReason.CALL_NOT_DECIDED, message, { metadata });
  }
  return { ...history, created, requested };
}
