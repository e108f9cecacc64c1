import type { GuardVerdict } from "@reeve/contracts/run";
import { GuardAction, GuardTarget } from "@reeve/contracts/run";
import type { NoteItem } from "./run-model.ts";

type GuardNote = Pick<NoteItem, "tone" | "text" | "detail">;

const targets: Partial<Record<GuardTarget, string>> = {
  [GuardTarget.INPUT]: "the input",
  [GuardTarget.OUTPUT]: "the answer",
  [GuardTarget.ARGUMENTS]: "the call",
  [GuardTarget.RESULT]: "the result",
};

const verbs: Partial<Record<GuardAction, string>> = {
  [GuardAction.REDACT]: "redacted a part of",
  [GuardAction.ASK]: "wants a person to decide on",
  [GuardAction.REFUSE]: "refused",
  [GuardAction.STOP]: "stopped the run because of",
};

/** Returns a note about what guards found or could not check. Undefined: nothing. */
export function guardNote(guards: readonly GuardVerdict[]): GuardNote | undefined {
  const telling = guards.filter(
    ({ action, problem }) => verbs[action] !== undefined || problem !== "",
  );
  if (telling.length === 0) return undefined;
  const isFinal = telling.some(({ action }) => action === GuardAction.STOP);
  return {
    tone: isFinal ? "bad" : "warn",
    text: telling.map(sentence).join("; "),
    detail: telling
      .map(({ guard, reason, problem }) => `${guard}: ${reason || problem}`)
      .join("\n"),
  };
}

function sentence({ guard, action, target }: GuardVerdict): string {
  const verb = verbs[action];
  return verb === undefined
    ? `The guard ${guard} did not check`
    : `The guard ${guard} ${verb} ${targets[target] ?? "a text"}`;
}
