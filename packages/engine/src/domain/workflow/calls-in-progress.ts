import { isWaitNode } from "@reeve/agent/workflow/wait-tools";
import { ApprovalState } from "@reeve/contracts/approval";
import { unansweredCalls } from "../calls/unanswered-calls.ts";
import type { Call, Frame } from "../state/frame.ts";

/** Returns how many calls of a frame's workflow are in progress. Those that wait for a person or a time are not. */
export function callsInProgress(frame: Frame): number {
  return unansweredCalls(frame).filter((call) => !awaitsPersonOrTime(frame, call)).length;
}

/** Whether the calls of a tool only wait. */
export function isWaiting({ tools }: Frame, name: string): boolean {
  const tool = tools.get(name);
  return tool !== undefined && isWaitNode(tool);
}

function awaitsPersonOrTime(frame: Frame, { call, approval, clientCall }: Call): boolean {
  return (
    approval?.state === ApprovalState.PENDING ||
    clientCall?.isAnsweredByPerson === true ||
    isWaiting(frame, call.name)
  );
}
