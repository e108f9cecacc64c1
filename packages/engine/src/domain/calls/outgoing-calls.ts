import { limitsOf } from "../budget/limits.ts";
import type { Frame } from "../state/frame.ts";
import { capabilitiesOf } from "../model/model-of.ts";
import { isPure } from "../own-tools/run-own-tool.ts";
import type { RunState } from "../state/run-state.ts";
import { liveFrames } from "../state/run-state.ts";
import type { OutgoingCall } from "./schedule-calls.ts";
import { admitCalls, isSubagent, scheduleCalls } from "./schedule-calls.ts";

/** How many calls of a turn of the frame run together: one by one when its provider does not make calls in parallel. */
export function parallelCallLimit(state: RunState, frame: Frame): number {
  return capabilitiesOf(state, frame)?.parallelToolCalls === false
    ? 1
    : limitsOf(state).parallelCalls;
}

/** The calls of the whole run that something outside of it has to carry out, and that have no result. */
export function openCalls(state: RunState): readonly OutgoingCall[] {
  return liveFrames(state).flatMap((frame) =>
    outgoing(frame, frame.calls).filter(({ call }) => call.result === undefined),
  );
}

/** Those of them that were handed out. */
export function callsInProgress(state: RunState): readonly OutgoingCall[] {
  return openCalls(state).filter(({ call }) => call.startedAtMs !== undefined);
}

/** The calls that may be handed out now. */
export function startableCalls(state: RunState): readonly OutgoingCall[] {
  const waiting = liveFrames(state)
    .filter(({ hasTurn, stepOpen }) => hasTurn && stepOpen)
    .flatMap((frame) =>
      outgoing(frame, scheduleCalls(frame, parallelCallLimit(state, frame))).filter(
        ({ call }) => call.startedAtMs === undefined,
      ),
    );
  return admitCalls(callsInProgress(state), waiting, limitsOf(state).parallelCalls);
}

function outgoing(frame: Frame, calls: Frame["calls"]): readonly OutgoingCall[] {
  return calls.flatMap((call) => {
    const tool = frame.tools.get(call.call.name);
    return tool === undefined || isPure(tool) || isSubagent(tool) ? [] : [{ frame, call, tool }];
  });
}
