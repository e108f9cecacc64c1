import {
  charactersPerToken,
  readingLength,
  readingLengthOfBytes,
} from "@reeve/agent/text/reading-length";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import { viewOf } from "../state/conversation.ts";
import type { Call, Frame, Unit } from "../state/frame.ts";
import { unitsOf } from "../state/units.ts";

/** Returns the estimated tokens of a text of this reading length. */
export function tokensOf(characters: number): number {
  return Math.ceil(characters / charactersPerToken);
}

/**
 * Returns the tokens of the next prompt of a frame: the last count of the provider, plus an estimate of everything after it.
 * Without a count since the last compaction, estimates the whole prompt.
 */
export function estimateTokens(frame: Frame, systemPrompt: string): number {
  const { measured } = frame;
  const units = unitsOf(frame);
  if (measured !== undefined) {
    const last = measured.withResults ? undefined : units[measured.units - 1];
    const results = last?.kind === "turn" ? resultCharacters(last.calls) : 0;
    const after = units.slice(measured.units).reduce((sum, unit) => sum + charactersOf(unit), 0);
    return measured.tokens + tokensOf(results + after);
  }
  const view = viewOf(units, frame.compaction);
  const fixed =
    readingLength(systemPrompt) + readingLength(view.summary) + schemaCharacters(frame.tools);
  return tokensOf(view.units.reduce((sum, unit) => sum + charactersOf(unit), fixed));
}

/** Returns the reading length of a unit. */
export function charactersOf(unit: Unit): number {
  const before = lengths.get(unit);
  if (before !== undefined) return before;
  const length = lengthOf(unit);
  lengths.set(unit, length);
  return length;
}

/** Conversations are measured often, and their units never change. */
const lengths = new WeakMap<Unit, number>();

function lengthOf(unit: Unit): number {
  switch (unit.kind) {
    case "user":
    case "assistant":
      return readingLength(unit.text);
    case "past":
      return unit.messages.reduce((sum, { message }) => {
        switch (message.case) {
          case "assistant":
            return sum + readingLengthOfBytes(message.value.messageJson);
          case "toolResult":
            return sum + readingLength(message.value.content);
          case "user":
            return sum + readingLength(message.value.text);
          case undefined:
            return sum;
        }
        return sum;
      }, 0);
    case "turn":
      return readingLengthOfBytes(unit.turn.messageJson) + resultCharacters(unit.calls);
  }
  return 0;
}

function resultCharacters(calls: readonly Call[]): number {
  return calls.reduce((sum, { result }) => sum + readingLength(result?.content ?? ""), 0);
}

const known = new WeakMap<ReadonlyMap<string, ToolDescriptor>, number>();

function schemaCharacters(tools: ReadonlyMap<string, ToolDescriptor>): number {
  const before = known.get(tools);
  if (before !== undefined) return before;
  const characters = [...tools.values()].reduce(
    (sum, { name, description, inputSchema }) =>
      sum + readingLength(`${name}${description}${JSON.stringify(inputSchema ?? {})}`),
    0,
  );
  known.set(tools, characters);
  return characters;
}
