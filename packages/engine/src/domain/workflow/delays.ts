import { isDelayNode } from "@reeve/agent/workflow/wait-tools";
import { approvedCall } from "../calls/approved-call.ts";
import { awaitsGate } from "../calls/call-content.ts";
import { unansweredCalls } from "../calls/unanswered-calls.ts";
import { isCleared } from "../calls/gate-call.ts";
import type { Call, Frame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { hasEnded, liveFrames } from "../state/run-state.ts";

/** A node that waits for a time. */
export interface OpenDelay {
  readonly frame: Frame;
  readonly call: Call;
  /** When the wait is over, in milliseconds since the epoch. */
  readonly dueAtMs: number;
}

/** Returns the delays in progress. */
export function openDelays(state: RunState): readonly OpenDelay[] {
  if (hasEnded(state)) return [];
  return liveFrames(state).flatMap((frame) =>
    frame.workflow === undefined || !frame.stepOpen
      ? []
      : unansweredCalls(frame)
          .filter((call) => isOpen(state, frame, call))
          .map((call) => ({ frame, call, dueAtMs: dueAtMs(call) })),
  );
}

function isOpen(state: RunState, frame: Frame, call: Call): boolean {
  const tool = frame.tools.get(call.call.name);
  return (
    tool !== undefined && isDelayNode(tool) && isCleared(call) && !awaitsGate(state, frame, call)
  );
}

/** The log has the time of the call, so that every owner waits for the same moment. */
function dueAtMs(call: Call): number {
  const seconds = approvedCall(call).arguments?.["seconds"];
  return call.requestedAtMs + (typeof seconds === "number" ? seconds * 1_000 : 0);
}
