import type { SubtaskChanged } from "@reeve/contracts/run";
import { finishSubtaskName } from "@reeve/agent/tools/runtime-tools";
import { approvedCall } from "../calls/approved-call.ts";
import type { Frame, Outcome, Unit } from "../state/frame.ts";
import { findNewest } from "@reeve/run/head/linked";

/** The key under which the memory of the run keeps what a subtask came to. */
export function taskKey(subtaskId: string): string {
  return `task:${subtaskId}`;
}

/** What a subtask came to when it ended so, and the text that tells it. */
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

/** The last thing that the subtask said: a turn may end it without a word. */
function lastText({ units }: Frame): string {
  const spoke = (unit: Unit) => unit.kind === "turn" && unit.text.trim() !== "";
  const turn = findNewest(units.newest, spoke);
  return turn?.kind === "turn" ? turn.text : "";
}
