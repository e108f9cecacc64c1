import type { RunCreated, RunPrepared } from "@reeve/contracts/run";
import type { HistoryMessage } from "@reeve/contracts/thread";
import { Role } from "@reeve/contracts/thread";
import type { Frame, Unit } from "./frame.ts";

/**
 * Returns the conversation of the root before its first turn: the history of the thread, the given messages, the input, and what
 * a run that continues another one took over from it.
 */
export function initialUnits(created: RunCreated, { history }: RunPrepared): readonly Unit[] {
  const given = created.messages.map(({ role, text }): Unit =>
    role === Role.ASSISTANT ? { kind: "assistant", text } : { kind: "user", text, isInput: false },
  );
  const input: Unit = { kind: "user", text: created.input, isInput: true };
  const inherited = pastUnits(created.inherited?.messages ?? []);
  return [...pastUnits(history), ...given, input, ...inherited];
}

/**
 * Returns the compaction with which a run begins that continues a compacted one: the summary replaces all before the inherited
 * messages except the input. Undefined: there is no summary.
 */
export function initialCompaction(
  units: readonly Unit[],
  summary: string | undefined,
): Frame["compaction"] {
  if (summary === undefined) return undefined;
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
        units.push({ kind: "user", text: message.message.value.text, isInput: false });
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
