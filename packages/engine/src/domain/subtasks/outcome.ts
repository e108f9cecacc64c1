import type { SubtaskChanged } from "@reeve/contracts/run";
import { finishSubtaskName } from "@reeve/agent/tools/runtime-tools";
import { approvedCall } from "../calls/approved-call.ts";
import type { Frame, Outcome, Unit } from "../state/frame.ts";
import { findNewest } from "@reeve/run/head/linked";

/** Returns the key of a subtask's result in the memory of the run. */
export function taskKey(subtaskId: string): string {
  return `task:${subtaskId}`;
}

/** Returns the outcome of a subtask that ended with this error or, if it is empty, with a result; and its text. */
export function outcomeOf(
  frame: Frame,
  { error, message }: Pick<SubtaskChanged, "error" | "message">,
): { readonly outcome: Outcome; readonly content: string } {
  if (error !== "") {
    const outcome = { kind: "failed", error, message } as const;
    return { outcome, content: JSON.stringify({ error, message }) };
  }
  const finished = frame.calls.find(
    ({ call, result }) => call.name === finishSubtaskName && result?.isError === false,
  );
  const payload = finished === undefined ? undefined : approvedCall(finished).arguments;
  const content = payload === undefined ? lastText(frame) : JSON.stringify(payload);
  return { outcome: { kind: "done", content, payload }, content };
}

/** Returns the last text of the subtask: its last turn may have none. */
function lastText({ units }: Frame): string {
  const turn = findNewest(units.newest, hasText);
  return turn?.kind === "turn" ? turn.text : "";
}

function hasText(unit: Unit): boolean {
  return unit.kind === "turn" && unit.text.trim() !== "";
}
