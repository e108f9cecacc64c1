import type { Approval } from "../../gen/reeve/approval/v1/approval_pb.ts";

/**
 * Whether the call of an approval is a question itself: an agent asks it with `ask_user`, and the answer is the result of the call. Any other
 * question is asked by a tool while its call is in progress.
 */
export function isAgentQuestion(approval: Approval | undefined): boolean {
  return approval?.question !== undefined && approval.approvalId === approval.call?.callId;
}
