import type { ToolDescriptor } from "@reeve/contracts/tool";
import { viewOf } from "../conversation.ts";
import type { Call, Frame, Unit } from "../frame.ts";

/** Characters of a token, the usual rule of thumb for text. */
const charactersAToken = 4;

export function tokensOf(characters: number): number {
  return Math.ceil(characters / charactersAToken);
}

/**
 * How many tokens the next prompt of a frame has. What a provider has counted is taken from it; what came after, or all of
 * it when nothing was counted since the conversation was made smaller, is estimated.
 */
export function estimateTokens(frame: Frame, systemPrompt: string): number {
  const { measured, units } = frame;
  if (measured !== undefined) {
    const last = measured.withResults ? undefined : units[measured.units - 1];
    const results = last?.kind === "turn" ? resultCharacters(last.calls) : 0;
    const after = units.slice(measured.units).reduce((sum, unit) => sum + charactersOf(unit), 0);
    return measured.tokens + tokensOf(results + after);
  }
  const view = viewOf(frame);
  const fixed = systemPrompt.length + view.summary.length + schemaCharacters(frame.tools);
  return tokensOf(view.units.reduce((sum, unit) => sum + charactersOf(unit), fixed));
}

export function charactersOf(unit: Unit): number {
  switch (unit.kind) {
    case "user":
    case "assistant":
      return unit.text.length;
    case "past":
      return unit.messages.reduce((sum, { message }) => {
        switch (message.case) {
          case "assistant":
            return sum + message.value.messageJson.length;
          case "toolResult":
            return sum + message.value.content.length;
          case "user":
            return sum + message.value.text.length;
          case undefined:
            return sum;
        }
        return sum;
      }, 0);
    case "turn":
      return unit.turn.messageJson.length + resultCharacters(unit.calls);
  }
  return 0;
}

function resultCharacters(calls: readonly Call[]): number {
  return calls.reduce((sum, { result }) => sum + (result?.content.length ?? 0), 0);
}

const known = new WeakMap<ReadonlyMap<string, ToolDescriptor>, number>();

function schemaCharacters(tools: ReadonlyMap<string, ToolDescriptor>): number {
  const before = known.get(tools);
  if (before !== undefined) return before;
  const characters = [...tools.values()].reduce(
    (sum, { name, description, inputSchema }) =>
      sum + name.length + description.length + JSON.stringify(inputSchema ?? {}).length,
    0,
  );
  known.set(tools, characters);
  return characters;
}
