import type { ModelSpec } from "@reeve/contracts/agent";
import { readingLength } from "@reeve/agent/text/reading-length";
import { splitInjected } from "@reeve/agent/tools/injected-args";
import { finishSubtaskName } from "@reeve/agent/tools/runtime-tools";
import { compactionFact } from "./before-model-call.ts";
import { advisoryFor } from "../context/advisory.ts";
import { contextLimit } from "../context/context-limit.ts";
import { tokensOf } from "../context/estimate-tokens.ts";
import { unitsToRemove } from "../context/plan-compaction.ts";
import type { Fact, EventInit, Scope } from "../state/fact.ts";
import { fact } from "../state/fact.ts";
import type { Frame, ModelCall } from "../state/frame.ts";
import { scopeOf } from "../state/frame.ts";
import type { ModelToolCall, ModelTurn, ModelUsage } from "./model.ts";
import { parseArguments } from "../calls/parse-arguments.ts";
import type { RunState } from "../state/run-state.ts";
import { systemPrompt } from "./system-prompt.ts";

/** The answer to a model call, with what is needed to charge and record it. */
export interface ReceivedTurn {
  readonly call: ModelCall;
  readonly model: ModelSpec;
  /** The format of the provider's messages. */
  readonly format: string;
  readonly turn: ModelTurn;
  /** The reading length of the prompt. Usage is estimated from it when the provider reports none. */
  readonly promptCharacters: number;
}

/** Returns the facts of a complete answer: its usage, its calls in order, and the turn. */
export function modelTurnFacts(
  state: RunState,
  frame: Frame,
  taken: ReceivedTurn,
): readonly Fact[] {
  const { call, turn } = taken;
  const scope = scopeOf(frame);
  const usage = usageOf(taken);
  const context = usage.inputTokens + usage.outputTokens;
  const injectedKeys = Object.keys(state.head.created?.spec?.injectedToolArgs ?? {});
  const callIds = turn.calls.map((_, index) => `${state.head.runId}-${call.sequence}-${index}`);
  const calls = turn.calls.map((toolCall, index) =>
    toolCallEvent(toolCall, callIds[index] ?? "", injectedKeys),
  );
  const modelTurn: EventInit = {
    case: "modelTurn",
    value: {
      messageJson: new TextEncoder().encode(turn.messageJson),
      finishReason: turn.finishReason,
      providerCallIds: turn.calls.map(({ providerCallId }) => providerCallId),
      callIds,
      format: taken.format,
      advisory: advisoryFor(state, frame, context),
      contextTokens: turn.usage === undefined ? 0 : context,
    },
  };
  return [
    usageFact(scope, taken, usage),
    ...[...calls, modelTurn].map((event) => fact(scope, event)),
  ];
}

/** Returns the facts of a summary: its usage, and the compaction in which it replaces the older part. */
export function summaryFacts(
  state: RunState,
  frame: Frame,
  taken: ReceivedTurn,
  summary: string,
): readonly Fact[] {
  const { compactAt } = contextLimit(state, frame);
  const removed = unitsToRemove(frame, systemPrompt(state, frame), compactAt);
  const already = frame.compaction?.removed ?? 0;
  return [
    usageFact(scopeOf(frame), taken, usageOf(taken)),
    compactionFact(state, frame, removed ?? already, summary.trim()),
  ];
}

function usageFact(scope: Scope, { turn, model }: ReceivedTurn, usage: ModelUsage): Fact {
  const costUsd = costOf(usage, model);
  return fact(scope, {
    case: "usage",
    value: {
      ...usage,
      model: turn.model,
      estimated: turn.usage === undefined,
      ...(costUsd !== undefined && { costUsd }),
    },
  });
}

function usageOf({ turn, promptCharacters }: ReceivedTurn): ModelUsage {
  return (
    turn.usage ?? {
      inputTokens: tokensOf(promptCharacters),
      outputTokens: tokensOf(readingLength(turn.messageJson)),
      cachedInputTokens: 0,
      reasoningTokens: 0,
    }
  );
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

function toolCallEvent(
  { name, argumentsText }: ModelToolCall,
  callId: string,
  injectedKeys: readonly string[],
): EventInit {
  const parsed = parseArguments(argumentsText);
  if (parsed === undefined) {
    return { case: "toolCall", value: { callId, name, rawArguments: argumentsText } };
  }
  // The arguments of `finish_subtask` are the result of the subtask; none of them is injected.
  const keys = name === finishSubtaskName ? [] : injectedKeys;
  const { executable, injected } = splitInjected(parsed, keys);
  const hasInjected = Object.keys(injected).length > 0;
  return {
    case: "toolCall",
    value: { callId, name, arguments: executable, ...(hasInjected && { injectedArgs: injected }) },
  };
}
