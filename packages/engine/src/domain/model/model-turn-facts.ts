import type { ModelSpec } from "@reeve/contracts/agent";
import { asUint32 } from "@reeve/run/head/as-uint32";
import { incompleteReasonOf } from "@reeve/run/head/incomplete-reason";
import { tokensIn } from "@reeve/agent/text/count-tokens";
import { splitInjected } from "@reeve/agent/tools/injected-args";
import { finishSubtaskName } from "@reeve/agent/tools/runtime-tools";
import { advisoryFor } from "../context/advisory.ts";
import { workingAgent } from "../delegates/working-agent.ts";
import type { Fact, EventInit, Scope } from "../state/fact.ts";
import { fact } from "../state/fact.ts";
import type { Frame, ModelCall } from "../state/frame.ts";
import { scopeOf } from "../state/frame.ts";
import type { ModelToolCall, ModelTurn, ModelUsage } from "./model.ts";
import { costOf } from "./price.ts";
import { summarized } from "./compact-conversation.ts";
import { parseArguments } from "../calls/parse-arguments.ts";
import type { RunState } from "../state/run-state.ts";

/** The answer to a model call, with what is needed to charge and record it. */
export interface ReceivedTurn {
  readonly call: ModelCall;
  readonly model: ModelSpec;
  /** The format of the provider's messages. */
  readonly format: string;
  readonly turn: ModelTurn;
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
  const context = asUint32(usage.inputTokens + usage.outputTokens);
  const injectedKeys = Object.keys(workingAgent(state, frame).spec?.injectedToolArgs ?? {});
  const { runId, created } = state.head;
  const number = (created?.callOffset ?? 0) + call.sequence;
  const callIds = turn.calls.map((_, index) => `${runId}-${number}-${index}`);
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
      contextTokens: reportedUsage(turn) === undefined ? 0 : context,
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
  const usage = usageFact(scopeOf(frame), taken, usageOf(taken));
  return [usage, summarized(state, frame, summary, incompleteReasonOf(taken.turn.finishReason))];
}

/** Returns the fact of what a call without an answer has used. Nothing: its provider reported no possible usage. */
export function failedUsageFacts(
  scope: Scope,
  model: ModelSpec,
  reported: ModelUsage | undefined,
): readonly Fact[] {
  const turn = { model: model.upstreamName, usage: reported };
  const usage = reportedUsage(turn);
  return usage === undefined ? [] : [usageFact(scope, { turn, model }, usage)];
}

/** Returns what a call has used, and its cost if the model has a price. */
export function chargedUsage(
  taken: Pick<ReceivedTurn, "turn" | "model"> & {
    readonly call: Pick<ModelCall, "inputTokens" | "maxOutputTokens">;
  },
): ModelUsage {
  const usage = usageOf(taken);
  return { ...usage, costUsd: chargedCost(usage, taken.model) };
}

/** A cost that the provider reports is what it bills. Undefined: it reports none, and the model has no price. */
function chargedCost(usage: ModelUsage, { pricing }: ModelSpec): number | undefined {
  if (usage.costUsd !== undefined) return usage.costUsd;
  return pricing === undefined ? undefined : costOf(usage, pricing);
}

interface Charged extends Pick<ReceivedTurn, "model"> {
  readonly turn: Pick<ModelTurn, "model" | "usage">;
}

function usageFact(scope: Scope, { turn, model }: Charged, usage: ModelUsage): Fact {
  const { costUsd: _, ...tokens } = usage;
  const costUsd = chargedCost(usage, model);
  return fact(scope, {
    case: "usage",
    value: {
      ...tokens,
      model: turn.model,
      estimated: reportedUsage(turn) === undefined,
      ...(costUsd !== undefined && { costUsd }),
    },
  });
}

/** Returns the usage that the provider reported, or else what the call has used at most. */
function usageOf({
  turn,
  call,
}: Pick<ReceivedTurn, "turn"> & {
  readonly call: Pick<ModelCall, "inputTokens" | "maxOutputTokens">;
}): ModelUsage {
  return (
    reportedUsage(turn) ?? {
      inputTokens: call.inputTokens,
      outputTokens: Math.min(tokensIn(turn.messageJson), call.maxOutputTokens ?? Infinity),
      cachedInputTokens: 0,
      cacheWriteInputTokens: 0,
      reasoningTokens: 0,
    }
  );
}

/** No model reads or writes more in one call. A larger number is an error of the provider. */
const maxTokens = 1e9;
const maxCostUsd = 1e6;

/**
 * Returns the usage that the provider reported, unless it is no usage: then the runtime's own count applies. Tokens of the
 * cache are a part of the input, so that their lower price never reduces the cost of other tokens.
 */
function reportedUsage({ usage }: Pick<ModelTurn, "usage">): ModelUsage | undefined {
  if (usage === undefined) return undefined;
  const { inputTokens, outputTokens, reasoningTokens } = usage;
  const { cachedInputTokens, cacheWriteInputTokens } = usage;
  const cached = [cachedInputTokens, cacheWriteInputTokens];
  if (![inputTokens, outputTokens, reasoningTokens, ...cached].every(isCount)) return undefined;
  const { costUsd, ...tokens } = usage;
  return {
    ...tokens,
    ...(isCost(costUsd) && { costUsd }),
    inputTokens: Math.max(inputTokens, cachedInputTokens + cacheWriteInputTokens),
  };
}

/** No call costs more, and none reduces the cost of others. */
function isCost(costUsd: number | undefined): boolean {
  return costUsd !== undefined && costUsd >= 0 && costUsd <= maxCostUsd;
}

function isCount(count: number): boolean {
  return Number.isInteger(count) && count >= 0 && count <= maxTokens;
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
