import { parallelCallsIn } from "../budget/frame-caps.ts";
import { limitsOf } from "../budget/limits.ts";
import type { Frame } from "../state/frame.ts";
import { withHeldCalls } from "./call-content.ts";
import { capabilitiesOf } from "../model/model-of.ts";
import { isAskUser } from "./questions/ask-user.ts";
import { isWaitNode } from "@reeve/agent/workflow/wait-tools";
import { isPure } from "../runtime-tools/run-runtime-tool.ts";
import { awaitsStart } from "../plugins/call-hooks.ts";
import type { RunState } from "../state/run-state.ts";
import { liveFrames } from "../state/run-state.ts";
import type { OutgoingCall } from "./schedule-calls.ts";
import { unansweredCalls } from "./unanswered-calls.ts";
import { admitCalls, isSubagent, scheduleCalls } from "./schedule-calls.ts";

/**
 * Returns how many calls of one turn of the frame run in parallel: 1 if its provider does not support parallel calls. No provider makes
 * those of a workflow.
 */
export function parallelCallLimit(state: RunState, frame: Frame): number {
  if (frame.workflow !== undefined) return parallelCallsIn(state, frame);
  return capabilitiesOf(state, frame)?.parallelToolCalls === false
    ? 1
    : parallelCallsIn(state, frame);
}

/** Returns the calls of the whole run that need an effect and have no result. */
export function openCalls(state: RunState): readonly OutgoingCall[] {
  return liveFrames(state).flatMap((frame) => outgoing(frame, unansweredCalls(frame)));
}

/** Returns the open calls that have started. */
export function callsInProgress(state: RunState): readonly OutgoingCall[] {
  return openCalls(state).filter(({ call }) => call.startedAtMs !== undefined);
}

/** Returns the calls that may start now. */
export function startableCalls(state: RunState): readonly OutgoingCall[] {
  const waiting = liveFrames(state)
    .filter(({ hasTurn, stepOpen }) => hasTurn && stepOpen)
    .flatMap((frame) =>
      outgoing(
        frame,
        scheduleCalls(withHeldCalls(state, frame), parallelCallLimit(state, frame)),
      ).filter(({ call }) => call.startedAtMs === undefined),
    );
  const admitted = admitCalls(callsInProgress(state), waiting, limitsOf(state).parallelCalls);
  return admitted.filter(({ frame, call }) => !awaitsStart(state, frame, call));
}

function outgoing(frame: Frame, calls: Frame["calls"]): readonly OutgoingCall[] {
  return calls.flatMap((call) => {
    const tool = frame.tools.get(call.call.name);
    const isOwn =
      tool === undefined || isPure(tool) || isSubagent(tool) || isAskUser(tool) || isWaitNode(tool);
    return isOwn ? [] : [{ frame, call, tool }];
  });
}
