import { create } from "@bufbuild/protobuf";
import { ToolResultSchema, ToolStatus } from "@reeve/contracts/tool";
import { finishSubtaskName } from "@reeve/agent/tools/runtime-tools";
import type { Fact } from "../state/fact.ts";
import type { Call, Frame } from "../state/frame.ts";
import { scopeOf } from "../state/frame.ts";
import { refuse, toolResultFact } from "../calls/tool-result.ts";
import { unitsOf } from "../state/units.ts";

/** How many turns with an invalid call of `finish_subtask` a subtask may repeat. */
const maxRetries = 3;

/** Returns the result of a call of `finish_subtask`, after all other calls of the step have results. */
export function finishSubtask(frame: Frame, call: Call, nowMs: number): readonly Fact[] {
  const isFinished = frame.calls.some(isAccepted);
  if (isFinished) {
    const content = "an earlier call of finish_subtask has already finished the subtask";
    return [refuse(call, scopeOf(frame), content, ToolStatus.ERROR, nowMs)];
  }
  const { callId, name } = call.call;
  const result = create(ToolResultSchema, { callId, name, content: "the subtask is finished" });
  return [toolResultFact(call, scopeOf(frame), result, nowMs)];
}

/** Whether the frame is a subtask whose result has a schema: only a call of `finish_subtask` ends it. */
export function requiresResult({ subtask }: Frame): boolean {
  return subtask?.job.outputSchema !== undefined;
}

/** Whether a call of `finish_subtask` was accepted. */
export function isFinished({ calls }: Frame): boolean {
  return calls.some(isAccepted);
}

/**
 * Whether the subtask has used all retries of an invalid `finish_subtask`. Several invalid calls of one turn are one attempt:
 * the model has not read what is wrong with the first when it makes the others.
 */
export function isOutOfRetries(frame: Frame): boolean {
  const attempts = unitsOf(frame).filter(
    (unit) =>
      unit.kind === "turn" &&
      unit.calls.some(({ call, result }) => call.name === finishSubtaskName && result?.isError),
  );
  return attempts.length > maxRetries;
}

function isAccepted({ call, result }: Call): boolean {
  return call.name === finishSubtaskName && result?.isError === false;
}
