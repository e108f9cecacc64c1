import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { Approval, ReviewUsage } from "@reeve/contracts/approval";
import { ApprovalState } from "@reeve/contracts/approval";
import type { Retrieval } from "@reeve/contracts/extensions/knowledge";
import type {
  CostSummarySchema,
  MediaCallEnded,
  PluginHookFinished,
  RunEvent,
  ToolResultEvent,
  Usage,
} from "@reeve/contracts/run";
import { UsageSchema } from "@reeve/contracts/run";
import type { ToolCall } from "@reeve/contracts/tool";
import { finishSubtaskName } from "@reeve/agent/tools/runtime-tools";
import { asUint32 } from "./as-uint32.ts";
import { reachedProvider } from "./reached-provider.ts";

/** What all frames of a run together have used so far. Never changed in place. */
export interface Ledger {
  /** Model calls that reached a provider, including those that got no answer. */
  readonly llmCalls: number;
  readonly toolCalls: number;
  readonly subtasks: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Input tokens that were read from and written to providers' caches; undefined: none. */
  readonly cachedInputTokens?: number | undefined;
  readonly cacheWriteInputTokens?: number | undefined;
  /** Bytes of the tool results that models were given. */
  readonly resultBytes: number;
  /** US dollars; undefined once a model without a price was called. */
  readonly costUsd: number | undefined;
}

/** What a generation of media has used. */
type MediaUsage = Pick<MediaCallEnded, "inputTokens" | "outputTokens" | "costUsd">;

/** The part of a ledger that a cost summary shows. */
type Costs = Omit<Ledger, "resultBytes" | "costUsd"> & { readonly costUsd?: number | undefined };

export const emptyLedger: Ledger = {
  llmCalls: 0,
  toolCalls: 0,
  subtasks: 0,
  inputTokens: 0,
  outputTokens: 0,
  resultBytes: 0,
  costUsd: 0,
};

/** Returns the ledger after one more event. */
export function charge(spent: Ledger, { event }: RunEvent): Ledger {
  switch (event.case) {
    case "modelCallStarted":
      return { ...spent, llmCalls: spent.llmCalls + 1 };
    case "toolCall":
      return isMade(event.value) ? { ...spent, toolCalls: spent.toolCalls + 1 } : spent;
    case "subtask":
      return event.value.ended ? spent : { ...spent, subtasks: spent.subtasks + 1 };
    case "toolResult": {
      if (isInherited(event.value)) return spent;
      const { content = "", retrieval } = event.value.result ?? {};
      const resultBytes = spent.resultBytes + Buffer.byteLength(content);
      return { ...spent, resultBytes, costUsd: withRetrieval(spent.costUsd, retrieval) };
    }
    case "modelCallFailed":
      // Its start was counted before it was known whether the provider is called.
      return reachedProvider(event.value) ? spent : { ...spent, llmCalls: spent.llmCalls - 1 };
    case "usage":
      return chargeUsage(spent, event.value);
    case "mediaCallEnded":
      return countsMedia(event.value) ? chargeMedia(spent, event.value) : spent;
    case "approval":
      return chargeReview(spent, event.value.approval);
    case "pluginHookFinished":
      return chargeGuards(spent, event.value);
    case "runPrepared":
      return { ...spent, costUsd: withRetrieval(spent.costUsd, event.value.retrieval) };
    case "runCreated":
    case "runClaimed":
    case "runParked":
    case "status":
    case "step":
    case "text":
    case "reasoning":
    case "textVoided":
    case "toolCallStarted":
    case "mcpProgress":
    case "plan":
    case "context":
    case "modelTurn":
    case "modelRetryDue":
    case "tokensCounted":
    case "clientCall":
    case "pluginsPinned":
    case "workflowPrepared":
    case "mediaPrepared":
    case "workflowContinued":
    case "mediaCallStarted":
    case "remoteTask":
    case "runEnding":
    case "messageSubmitted":
    case "messageInjected":
    case "memoryWritten":
    case "todosChanged":
    case "cancelRequested":
    case "budgetExceeded":
    case "error":
    case "costSummary":
    case "treeStored":
    case undefined:
      return spent;
  }
}

/**
 * Whether the run makes a call. One that records the answer of a workflow is made by no node, and one that the run inherits was made by
 * the run that it continues.
 */
function isMade({ name, nodeId, inheritedFrom }: ToolCall): boolean {
  return inheritedFrom === "" && (nodeId === "" || name !== finishSubtaskName);
}

/** Whether a result is of a call that the run inherits. */
function isInherited({ result }: ToolResultEvent): boolean {
  return (result?.metadata?.inheritedFrom ?? "") !== "";
}

/**
 * Returns what a run has cost after one more event, as its ledger counts it. Undefined: a model without a price was called, now or
 * before.
 */
export function costAfter(before: number | undefined, { event }: RunEvent): number | undefined {
  if (before === undefined) return undefined;
  switch (event.case) {
    case "usage":
      return sumOf(before, event.value.costUsd);
    case "mediaCallEnded":
      return countsMedia(event.value) ? sumOf(before, event.value.costUsd) : before;
    case "approval": {
      const { approval } = event.value;
      return costOf(before, approval === undefined ? [] : newReviewUsage(approval));
    }
    case "pluginHookFinished":
      return costOf(before, usageOfGuards(event.value));
    case "runPrepared":
      return withRetrieval(before, event.value.retrieval);
    case "toolResult":
      return isInherited(event.value)
        ? before
        : withRetrieval(before, event.value.result?.retrieval);
    default:
      return before;
  }
}

function costOf(before: number, usages: readonly ReviewUsage[]): number | undefined {
  return usages.reduce<number | undefined>(
    (sum, { costUsd }) => (sum === undefined ? undefined : sumOf(sum, costUsd)),
    before,
  );
}

/** Adds what a search has cost. Without a price it counts nothing: it is a small part, and the cost of a run would not be known. */
function withRetrieval<Cost extends number | undefined>(
  before: Cost,
  retrieval: Retrieval | undefined,
): Cost | number {
  return before === undefined ? before : before + (retrieval?.embeddingCostUsd ?? 0);
}

function sumOf(before: number, costUsd: number | undefined): number | undefined {
  return costUsd === undefined ? undefined : before + costUsd;
}

/** Whether a generation counts in the cost. A failed one without a cost was not billed, or nobody knows. */
function countsMedia({ failure, costUsd }: MediaCallEnded): boolean {
  return failure === "" || costUsd !== undefined;
}

/** Returns the ledger after a generation of media. */
export function chargeMedia(
  spent: Ledger,
  { inputTokens, outputTokens, costUsd }: MediaUsage,
): Ledger {
  const usage = { inputTokens, outputTokens, ...(costUsd !== undefined && { costUsd }) };
  return chargeUsage(spent, create(UsageSchema, usage));
}

function chargeReview(spent: Ledger, approval: Approval | undefined): Ledger {
  const usages = approval === undefined ? [] : newReviewUsage(approval);
  return usages.reduce(chargeAside, spent);
}

/** Charges the models that guards have called. */
function chargeGuards(spent: Ledger, finished: PluginHookFinished): Ledger {
  return usageOfGuards(finished).reduce(chargeAside, spent);
}

function usageOfGuards({ guards }: PluginHookFinished): readonly ReviewUsage[] {
  return guards.flatMap(({ usage }) => usage ?? []);
}

/** Charges a model call that is no part of the conversation. */
function chargeAside(spent: Ledger, usage: ReviewUsage): Ledger {
  const charged = create(UsageSchema, {
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    ...(usage.costUsd !== undefined && { costUsd: usage.costUsd }),
  });
  return { ...chargeUsage(spent, charged), llmCalls: spent.llmCalls + 1 };
}

/** Returns what the review of an approval has used, if this version is the first with it: later ones have it too. */
export function newReviewUsage({ state, revision, review }: Approval): readonly ReviewUsage[] {
  const isNew = state === ApprovalState.PENDING && revision === review?.revision;
  return isNew && review?.usage !== undefined ? [review.usage] : [];
}

function chargeUsage(spent: Ledger, usage: Usage): Ledger {
  const { inputTokens, outputTokens, cachedInputTokens, cacheWriteInputTokens, costUsd } = usage;
  return {
    ...spent,
    inputTokens: spent.inputTokens + inputTokens,
    outputTokens: spent.outputTokens + outputTokens,
    cachedInputTokens: more(spent.cachedInputTokens, cachedInputTokens),
    cacheWriteInputTokens: more(spent.cacheWriteInputTokens, cacheWriteInputTokens),
    costUsd:
      spent.costUsd === undefined || costUsd === undefined ? undefined : spent.costUsd + costUsd,
  };
}

function more(tokens = 0, added: number): number | undefined {
  return tokens + added === 0 ? undefined : tokens + added;
}

/** Returns the cost summary that a run with this ledger leaves. */
export function costSummaryOf(
  spent: Costs,
): Omit<MessageInitShape<typeof CostSummarySchema>, "$typeName"> {
  const { llmCalls, toolCalls, subtasks, costUsd } = spent;
  return {
    llmCalls,
    toolCalls,
    subtasks,
    inputTokens: asUint32(spent.inputTokens),
    outputTokens: asUint32(spent.outputTokens),
    cachedInputTokens: asUint32(spent.cachedInputTokens ?? 0),
    cacheWriteInputTokens: asUint32(spent.cacheWriteInputTokens ?? 0),
    ...(costUsd !== undefined && { costUsd }),
  };
}
