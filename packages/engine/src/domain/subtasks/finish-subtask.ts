import { create } from "@bufbuild/protobuf";
import { ToolResultSchema, ToolStatus } from "@reeve/contracts/tool";
import { finishSubtaskName } from "@reeve/agent/tools/runtime-tools";
import type { Fact } from "../state/fact.ts";
import type { Call, Frame } from "../state/frame.ts";
import { scopeOf } from "../state/frame.ts";
import { refuse, toolResultFact } from "../calls/tool-result.ts";
import { unitsOf } from "../state/units.ts";

/** How often a subtask may call `finish_subtask` again after an invalid call. */
const maxRetries = 3;

/** The result of a call that ends a subtask; it takes its turn after all other calls of the step. */
export function finishSubtask(frame: Frame, call: Call, nowMs: number): readonly Fact[] {
  const isFinished = frame.calls.some(isAccepted);
  if (isFinished) {
    const content = "the subtask is finished already, with the call before";
    return [refuse(call, scopeOf(frame), content, ToolStatus.ERROR, nowMs)];
  }
  const { callId, name } = call.call;
  const result = create(ToolResultSchema, { callId, name, content: "the subtask is finished" });
  return [toolResultFact(call, scopeOf(frame), result, nowMs)];
}

/** Whether the frame is a subtask whose result has a form, so that nothing but a call of `finish_subtask` ends it. */
export function requiresResult({ subtask }: Frame): boolean {
  return subtask?.job.outputSchema !== undefined;
}

/** Whether the subtask has finished by a call that fits its schema. */
export function isFinished({ calls }: Frame): boolean {
  return calls.some(isAccepted);
}

/** Whether the subtask has been told often enough what is wrong with its result. */
export function isOutOfRetries(frame: Frame): boolean {
  const invalid = unitsOf(frame).flatMap((unit) =>
    unit.kind === "turn"
      ? unit.calls.filter(({ call, result }) => call.name === finishSubtaskName && result?.isError)
      : [],
  );
  return invalid.length > maxRetries;
}

function isAccepted({ call, result }: Call): boolean {
  return call.name === finishSubtaskName && result?.isError === false;
}
