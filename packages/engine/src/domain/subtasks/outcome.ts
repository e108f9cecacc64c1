import type { SubtaskChanged } from "@reeve/contracts/run";
import { finishSubtaskName } from "@reeve/agent/tools/runtime-tools";
import { IncompleteReason } from "@reeve/contracts/run";
import { approvedCall } from "../calls/approved-call.ts";
import { incompleteMessage, isTruncatedPart, reasonOfUnit } from "../incomplete-answer.ts";
import type { Frame, Outcome, Unit } from "../state/frame.ts";

/** Returns the key of a subtask's result in the memory of the run. */
export function taskKey(subtaskId: string): string {
  return `task:${subtaskId}`;
}

/** How a subtask ended, as its event says. */
export type EndOfSubtask = Pick<SubtaskChanged, "error" | "message" | "incompleteReason">;

/** Returns the outcome of a subtask that ended with this error or, if it is empty, with a result; and its text. */
export function outcomeOf(
  frame: Frame,
  { error, message, incompleteReason: incomplete }: EndOfSubtask,
): { readonly outcome: Outcome; readonly content: string } {
  if (error !== "") {
    const outcome = { kind: "failed", error, message } as const;
    return { outcome, content: JSON.stringify({ error, message }) };
  }
  const finished = frame.calls.find(
    ({ call, result }) => call.name === finishSubtaskName && result?.isError === false,
  );
  const payload = finished === undefined ? undefined : approvedCall(finished).arguments;
  const content =
    payload === undefined ? marked(answerOf(frame), incomplete) : JSON.stringify(payload);
  return { outcome: { kind: "done", content, payload, incomplete }, content };
}

/** Returns an answer with a note at its start if it is incomplete. */
function marked(text: string, incomplete: IncompleteReason): string {
  return incomplete === IncompleteReason.UNSPECIFIED
    ? text
    : `[incomplete: ${incompleteMessage(incomplete)}]\n${text}`;
}

function answerOf(frame: Frame): string {
  return frame.workflow === undefined ? lastText(frame) : frame.text;
}

/**
 * Returns the last answer of the subtask that guards did not refuse: its last turn may have no text. The parts of a continued answer
 * are one.
 */
function lastText({ units }: Frame): string {
  let entry = units.newest;
  while (entry !== undefined && !isAnswer(entry.value)) entry = entry.before;
  const parts: string[] = [];
  do {
    if (entry?.value.kind === "turn") parts.push(entry.value.text);
    entry = entry?.before;
  } while (isTruncatedPart(entry?.value));
  return parts.toReversed().join("");
}

/** An incomplete answer is an answer even if it has no text. */
function isAnswer(unit: Unit): boolean {
  return (
    unit.kind === "turn" &&
    unit.refusal === undefined &&
    (unit.text.trim() !== "" || reasonOfUnit(unit) !== IncompleteReason.UNSPECIFIED)
  );
}
