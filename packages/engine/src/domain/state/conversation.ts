import type { RunCreated, RunPrepared } from "@reeve/contracts/run";
import type { ContentPart } from "@reeve/contracts/content/parts";
import type { HistoryMessage } from "@reeve/contracts/thread";
import { Role } from "@reeve/contracts/thread";
import type { Frame, Unit } from "./frame.ts";

/**
 * Returns the conversation of the root before its first turn: the history of the thread, the given messages, the input, and what
 * a run that continues another one took over from it. A history that is later than the summary of such a run follows the given
 * messages, which the summary replaces.
 */
export function initialUnits(created: RunCreated, { history }: RunPrepared): readonly Unit[] {
  const given = created.messages.map(({ role, text, parts }): Unit =>
    role === Role.ASSISTANT ? { kind: "assistant", text } : userUnit({ text, parts }, false),
  );
  const input = userUnit({ text: created.input, parts: created.parts }, true);
  const inherited = pastUnits(created.inherited?.messages ?? []);
  const past = pastUnits(history);
  const start = hasLaterHistory(created) ? [...given, ...past] : [...past, ...given];
  return [...start, input, ...inherited];
}

/** Returns a message of the user as a unit. */
export function userUnit(
  { text, parts }: { readonly text: string; readonly parts: readonly ContentPart[] },
  isInput: boolean,
): Unit {
  return { kind: "user", text, isInput, ...(parts.length > 0 && { parts }) };
}

/** Whether the history has only what came after the summary with which the run begins. */
function hasLaterHistory({ inherited }: RunCreated): boolean {
  return inherited?.summary !== undefined && inherited.summarizedRunId !== "";
}

/**
 * Returns the compaction with which a run begins that continues a compacted one: the summary replaces the given messages, or all
 * before the inherited messages except the input if the history is not known to be later. Undefined: there is no summary.
 */
export function initialCompaction(
  units: readonly Unit[],
  created: RunCreated | undefined,
): Frame["compaction"] {
  const summary = created?.inherited?.summary;
  if (created === undefined || summary === undefined) return undefined;
  if (hasLaterHistory(created))
    return { removed: created.messages.length, kept: undefined, summary };
  const kept = units.findIndex((unit) => unit.kind === "user" && unit.isInput);
  return { removed: kept + 1, kept, summary };
}

/** Returns earlier turns as units: one for each user message, and one for each answer with the results of its tool calls. */
export function pastUnits(history: readonly HistoryMessage[]): readonly Unit[] {
  const units: Unit[] = [];
  for (const message of history) {
    const last = units.at(-1);
    switch (message.message.case) {
      case "user":
        units.push(userUnit(message.message.value, false));
        break;
      case "toolResult":
        if (last?.kind === "past") {
          units[units.length - 1] = { kind: "past", messages: [...last.messages, message] };
        }
        break;
      case "assistant":
        units.push({ kind: "past", messages: [message] });
        break;
      case undefined:
        break;
    }
  }
  return units;
}

/** The part of a conversation that the model still sees. */
export interface View {
  /** Replaces the removed units; empty: nothing does. */
  readonly summary: string;
  readonly units: readonly Unit[];
}

export function viewOf(units: readonly Unit[], compaction: Frame["compaction"]): View {
  if (compaction === undefined) return { summary: "", units };
  const { removed, kept, summary } = compaction;
  const stays = kept === undefined ? [] : units.slice(kept, kept + 1);
  return { summary, units: [...stays, ...units.slice(removed)] };
}
