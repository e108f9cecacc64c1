import type { Call } from "../state/frame.ts";

/**
 * Returns the id under which toolhosts execute a call: the id of the call, until its approval is superseded. Then it is that of the
 * latest approval, because the journal of the earlier execution says that the call was not made.
 */
export function executionId({ call, approval }: Pick<Call, "call" | "approval">): string {
  return approval?.approvalId || call.callId;
}
