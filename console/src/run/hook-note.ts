import type { PluginHookFinished } from "@reeve/contracts/run";
import { guardNote } from "./guard-note.ts";
import type { NoteItem } from "./run-model.ts";

type HookNote = Pick<NoteItem, "tone" | "text" | "detail">;

/** Returns a note about what a plugin or its guards changed, refused, or failed to do. Undefined: it changed nothing. */
export function hookNote(hook: PluginHookFinished): HookNote | undefined {
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
        detail: JSON.stringify(answer.verdict.value.arguments ?? {}),
      };
    case "allow":
    case undefined:
      return answer && changesNote(pluginId, answer);
  }
}

function changesNote(
  pluginId: string,
  { patches, actions, transform }: NonNullable<PluginHookFinished["answer"]>,
): HookNote | undefined {
  const changes = [
    transform !== undefined && "changed the request to the model",
    patches.length > 0 && `set ${patches.map(({ key }) => key).join(", ")}`,
    actions.length > 0 && `scheduled ${actions.map(({ name }) => name).join(", ")}`,
  ].filter((change) => change !== false);
  if (changes.length === 0) return undefined;
  const { instructions = "", removedTools = [] } = transform ?? {};
  const removed = removedTools.length === 0 ? "" : `without the tools ${removedTools.join(", ")}`;
  return {
    tone: "info",
    text: `The plugin ${pluginId} ${changes.join(" and ")}`,
    detail: [instructions, removed].filter((part) => part !== "").join("\n"),
  };
}
