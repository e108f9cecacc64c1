import type { GuardVerdict, PluginHookFinished } from "@reeve/contracts/run";
import { GuardAction, GuardTarget } from "@reeve/contracts/run";
import type { NoteItem } from "./run-model.ts";

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

/** Returns a note about what a plugin or its guards changed or refused. Undefined: they changed nothing. */
export function hookNote(
  hook: PluginHookFinished,
): Pick<NoteItem, "tone" | "text" | "detail"> | undefined {
  const { pluginId, error, answer, guards } = hook;
  if (error !== "") return { tone: "bad", text: `The plugin ${pluginId} failed`, detail: error };
  if (guards.length > 0) return guardNote(guards);
  switch (answer?.verdict.case) {
    case "stop":
      return {
        tone: "bad",
        text: `The plugin ${pluginId} stopped the run`,
        detail: answer.verdict.value.reason,
      };
    case "deny":
      return {
        tone: "warn",
        text: `The plugin ${pluginId} refused a call`,
        detail: answer.verdict.value.reason,
      };
    case "ask":
      return {
        tone: "info",
        text: `The plugin ${pluginId} wants a person to decide on a call`,
        detail: answer.verdict.value.reason,
      };
    case "rewrite":
      return {
        tone: "info",
        text: `The plugin ${pluginId} replaced the arguments of a call`,
        detail: "",
      };
    default:
      return undefined;
  }
}

function guardNote(guards: readonly GuardVerdict[]): ReturnType<typeof hookNote> {
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
