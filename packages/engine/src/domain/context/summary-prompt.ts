import { lastTokens } from "@reeve/agent/text/count-tokens";
import { firstCharacters } from "@reeve/agent/text/truncate-characters";
import { partLines } from "@reeve/run/parts/part-note";
import { editedNote } from "@reeve/run/tree/edited-note";
import { viewOf } from "../state/conversation.ts";
import type { Call, Frame, Unit } from "../state/frame.ts";
import { unitsOf } from "../state/units.ts";

export const summaryInstructions =
  "You are given the older part of a conversation between a user and an agent that works with tools. It is about to be left out. Write what has to be known to go on without it: the goal and its constraints, decisions, facts found with their exact values (names, numbers, paths, ids), what was done and with which outcome, what failed, and what is still open. Write only the summary.";

/** The characters of each message that the summarizing model reads. */
const maxCharacters = 4_000;

/** Returns the part of the conversation that compaction removes, as one text of at most `maxTokens`. */
export function transcript(frame: Frame, removed: number, maxTokens: number): string {
  const view = viewOf(unitsOf(frame).slice(0, removed), frame.compaction);
  const before = view.summary === "" ? [] : [`Summary of what was before:\n${view.summary}`];
  const whole = [...before, ...view.units.flatMap(lines)].join("\n\n");
  // The newest part says most about the state of the work.
  return lastTokens(whole, maxTokens);
}

function lines(unit: Unit): readonly string[] {
  switch (unit.kind) {
    case "user":
      return [`User: ${cut([unit.text, ...partLines(unit.parts ?? [])].join("\n"))}`];
    case "assistant":
      return [`Agent: ${cut(unit.text)}`];
    case "turn":
      return [`Agent: ${cut(unit.text)}`, ...unit.calls.map(callLine)];
    case "past":
      return unit.messages.map(({ message }) => {
        switch (message.case) {
          case "user":
            return `User: ${cut(message.value.text)}`;
          case "assistant":
            return `Agent: ${cut(message.value.text)}`;
          case "toolResult":
            return `Result of ${message.value.name}: ${cut(message.value.content)}`;
          case undefined:
            return "";
        }
        return "";
      });
  }
  return [];
}

function callLine({ call, result }: Call): string {
  const args = call.arguments === undefined ? call.rawArguments : JSON.stringify(call.arguments);
  const lines = [
    `Call of ${call.name}: ${cut(args)}`,
    editedNote(result),
    `Result: ${cut(result?.content ?? "none")}`,
  ];
  return lines.filter((line) => line !== "").join("\n");
}

function cut(text: string): string {
  return text.length <= maxCharacters ? text : `${firstCharacters(text, maxCharacters)} …`;
}
