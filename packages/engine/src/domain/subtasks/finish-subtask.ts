import { create } from "@bufbuild/protobuf";
import { ToolResultSchema, ToolStatus } from "@reeve/contracts/tool";
import { finishSubtaskName } from "@reeve/agent/tools/runtime-tools";
import { truncateToBytes } from "@reeve/agent/text/truncate-to-bytes";
import { limitsOf } from "../budget/limits.ts";
import type { RunState } from "../state/run-state.ts";
import { graphProblem } from "../workflow-building/build-job.ts";
import type { Fact } from "../state/fact.ts";
import type { Call, Frame } from "../state/frame.ts";
import { rootId, scopeOf } from "../state/frame.ts";
import { approvedCall } from "../calls/approved-call.ts";
import { refuse, toolResultFact } from "../calls/tool-result.ts";

/** How many turns with an invalid call of `finish_subtask` a subtask may repeat. */
const maxRetries = 3;

/** Returns the result of a call of `finish_subtask`, after all other calls of the step have results. */
export function finishSubtask(
  state: RunState,
  frame: Frame,
  call: Call,
  nowMs: number,
): readonly Fact[] {
  const isFinished = frame.calls.some(isAccepted);
  if (isFinished) {
    const content = `an earlier call of finish_subtask has already finished ${nameOf(frame)}`;
    return [refuse(call, scopeOf(frame), content, ToolStatus.ERROR, nowMs)];
  }
  const problem = graphProblem(state, frame.subtask?.job, approvedCall(call).arguments);
  if (problem !== undefined) {
    const shown = truncateToBytes(problem, limitsOf(state).resultBytes);
    return [refuse(call, scopeOf(frame), shown, ToolStatus.ERROR, nowMs)];
  }
  const { callId, name } = call.call;
  const content = `${nameOf(frame)} is finished`;
  // A subtask has its result in the result of the call that started it.
  const structured = frame.id === rootId ? approvedCall(call).arguments : undefined;
  const result = create(ToolResultSchema, {
    callId,
    name,
    content,
    ...(structured && { structured }),
  });
  return [toolResultFact(call, scopeOf(frame), result, nowMs)];
}

/**
 * Whether the frame is a subtask or a root whose result has a schema: only a call of `finish_subtask` ends it. A root has the tool if
 * the worker that prepared the run knew that.
 */
export function requiresResult({ id, subtask, tools }: Frame): boolean {
  return subtask === undefined
    ? id === rootId && tools.has(finishSubtaskName)
    : subtask.job.outputSchema !== undefined;
}

function nameOf({ id }: Frame): string {
  return id === rootId ? "the run" : "the subtask";
}

/** Whether a call of `finish_subtask` was accepted. */
export function isFinished({ calls }: Pick<Frame, "calls">): boolean {
  return calls.some(isAccepted);
}

/**
 * Whether all retries of an invalid `finish_subtask` are used since the last answer: a run may answer again after a message. Several
 * invalid calls of one turn are one attempt: the model has not read what is wrong with the first when it makes the others.
 */
export function isOutOfRetries({ units }: Frame): boolean {
  let attempts = 0;
  for (let entry = units.newest; entry !== undefined; entry = entry.before) {
    const unit = entry.value;
    if (unit.kind !== "turn") continue;
    if (isFinished(unit)) break;
    if (unit.calls.some(isInvalid)) attempts += 1;
  }
  return attempts > maxRetries;
}

function isInvalid({ call, result }: Call): boolean {
  return call.name === finishSubtaskName && result?.isError === true;
}

function isAccepted({ call, result }: Call): boolean {
  return call.name === finishSubtaskName && result?.isError === false;
}
