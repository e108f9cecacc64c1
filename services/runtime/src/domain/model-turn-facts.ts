import type { JsonObject } from "@bufbuild/protobuf";
import type { ModelSpec } from "@reeve/contracts/agent";
import { splitInjected } from "@reeve/agent/injected-args";
import type { Fact, Happening, Scope } from "./fact.ts";
import { fact } from "./fact.ts";
import type { ModelToolCall, ModelTurn, ModelUsage } from "./model.ts";
import type { ModelCall } from "./run-state.ts";

/** What the facts of a turn are made from. */
export interface TakenTurn {
  readonly runId: string;
  readonly scope: Scope;
  readonly call: ModelCall;
  readonly model: ModelSpec;
  readonly turn: ModelTurn;
  /** Names of the arguments that are asked of the model and reach no tool. */
  readonly injectedKeys: readonly string[];
  /** Characters of the prompt, from which usage is estimated when the provider does not tell. */
  readonly promptCharacters: number;
}

/** The facts of a whole answer: what it used, its calls in order, and the turn itself. */
export function modelTurnFacts(taken: TakenTurn): readonly Fact[] {
  const { runId, scope, call, turn } = taken;
  const callIds = turn.calls.map((_, index) => `${runId}-${call.sequence}-${index}`);
  const calls = turn.calls.map((toolCall, index) =>
    toolCallHappening(toolCall, callIds[index] ?? "", taken.injectedKeys),
  );
  const modelTurn: Happening = {
    case: "modelTurn",
    value: {
      messageJson: new TextEncoder().encode(turn.messageJson),
      finishReason: turn.finishReason,
      providerCallIds: turn.calls.map(({ providerCallId }) => providerCallId),
      callIds,
    },
  };
  return [usageHappening(taken), ...calls, modelTurn].map((event) => fact(scope, event));
}

function usageHappening({ turn, model, promptCharacters }: TakenTurn): Happening {
  const usage = turn.usage ?? estimate(turn, promptCharacters);
  const costUsd = costOf(usage, model);
  return {
    case: "usage",
    value: {
      ...usage,
      model: turn.model,
      estimated: turn.usage === undefined,
      ...(costUsd !== undefined && { costUsd }),
    },
  };
}

function costOf(usage: ModelUsage, { pricing }: ModelSpec): number | undefined {
  if (pricing === undefined) return undefined;
  const cachedPrice = pricing.cachedInputUsdPerMillion ?? pricing.inputUsdPerMillion;
  const fresh = usage.inputTokens - usage.cachedInputTokens;
  return (
    (fresh * pricing.inputUsdPerMillion +
      usage.cachedInputTokens * cachedPrice +
      usage.outputTokens * pricing.outputUsdPerMillion) /
    1e6
  );
}

/** Four characters a token, the usual rule of thumb for text. */
function estimate({ messageJson }: ModelTurn, promptCharacters: number): ModelUsage {
  return {
    inputTokens: Math.ceil(promptCharacters / 4),
    outputTokens: Math.ceil(messageJson.length / 4),
    cachedInputTokens: 0,
    reasoningTokens: 0,
  };
}

function toolCallHappening(
  { name, argumentsText }: ModelToolCall,
  callId: string,
  injectedKeys: readonly string[],
): Happening {
  const parsed = parseObject(argumentsText);
  if (parsed === undefined) {
    return { case: "toolCall", value: { callId, name, rawArguments: argumentsText } };
  }
  const { executable, injected } = splitInjected(parsed, injectedKeys);
  const hasInjected = Object.keys(injected).length > 0;
  return {
    case: "toolCall",
    value: { callId, name, arguments: executable, ...(hasInjected && { injectedArgs: injected }) },
  };
}

/** Some models write nothing at all for a tool without arguments: that is an empty object. */
function parseObject(text: string): JsonObject | undefined {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? // JSON.parse gives only JSON.
        (value as JsonObject)
      : undefined;
  } catch {
    return undefined;
  }
}
