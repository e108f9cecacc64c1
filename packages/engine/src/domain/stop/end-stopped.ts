import { finishSubtaskName } from "@reeve/agent/tools/runtime-tools";
import { RunStatus } from "@reeve/contracts/run";
import { ToolStatus } from "@reeve/contracts/tool";
import { problemOf } from "../calls/gate-call.ts";
import { refuse } from "../calls/tool-result.ts";
import { completeFrame, failFrame, failWithoutResult, outsideSteps } from "../end-frame.ts";
import { endRun } from "../end-run.ts";
import type { Fact } from "../state/fact.ts";
import type { Call, Frame } from "../state/frame.ts";
import { rootId, scopeOf } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { requiresResult } from "../subtasks/finish-subtask.ts";
import type { Stop } from "./stop-after-turn.ts";
import { notExecuted } from "./stopped-call.ts";

/**
 * Returns the refusals of the calls of a turn after which a frame stops. None of them is executed. A valid answer is none of them: a
 * condition must not throw it away.
 */
export function refuseStopped(frame: Frame, { message }: Stop, nowMs: number): readonly Fact[] {
  return frame.calls
    .filter(({ result, startedAtMs }) => result === undefined && startedAtMs === undefined)
    .filter((call) => !isAnswer(frame, call))
    .map((call) =>
      refuse(call, scopeOf(frame), `${notExecuted}${message}`, ToolStatus.ERROR, nowMs),
    );
}

/** Whether a call gives the result of a frame, and fits its schema. */
function isAnswer(frame: Frame, pending: Call): boolean {
  return (
    pending.call.name === finishSubtaskName &&
    requiresResult(frame) &&
    problemOf(frame, pending) === undefined
  );
}

/** Returns the facts that end a frame which has stopped, after its step has ended. */
export function endStopped(
  state: RunState,
  frame: Frame,
  { error, message }: Stop,
): readonly Fact[] {
  if (error !== "") return failFrame(state, outsideSteps(frame), error, message);
  // Only its schema says what the result of such a frame is.
  if (requiresResult(frame)) return failWithoutResult(state, frame);
  return frame.id === rootId
    ? endRun(state, RunStatus.COMPLETED, message)
    : completeFrame(state, frame);
}
