import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ModelCheck } from "@reeve/agent/guardrails/guard";
import { truncateToBytes } from "@reeve/agent/text/truncate-to-bytes";
import type { ModelSpec } from "@reeve/contracts/agent";
import type { GuardVerdictSchema } from "@reeve/contracts/run";
import { delayAfter } from "@reeve/platform/async/retry/backoff";
import { reachedProvider } from "@reeve/run/head/reached-provider";
import { guardBudget } from "../../domain/guardrails/guard-budget.ts";
import type { Finding } from "../../domain/guardrails/check-text.ts";
import type { GuardSubject } from "../../domain/guardrails/guard-subject.ts";
import { shownText } from "../../domain/guardrails/guard-subject.ts";
import { pinnedGuardrails } from "../../domain/guardrails/guards-at.ts";
import type { RunGuard } from "../../domain/guardrails/pinned-guards.ts";
import {
  maxCheckedCharacters,
  moderationRequest,
  verdictIn,
  verdictTokens,
} from "../../domain/guardrails/moderation-request.ts";
import { requestTokens } from "../../domain/model/count-request.ts";
import { chargedUsage } from "../../domain/model/model-turn-facts.ts";
import { costOf } from "../../domain/model/price.ts";
import type { RunState } from "../../domain/state/run-state.ts";
import { ModelFailure } from "../../ports/model-provider.ts";
import type { RunPorts } from "../../ports/run-ports.ts";
import { assertModelAllowed, providerOf } from "../models/model-access.ts";
import { ownerOf } from "../models/owner-of.ts";

const maxAttempts = 3;
const backoff = { firstDelayMs: 500, maxDelayMs: 5_000 };
const maxProblemBytes = 500;

/** What a model found, and what its call has used. */
export interface Moderation extends Pick<
  MessageInitShape<typeof GuardVerdictSchema>,
  "model" | "usage"
> {
  readonly finding: Finding;
}

/** A guard whose check is a model. */
interface ModelGuard extends Pick<RunGuard, "policyRule"> {
  readonly check: ModelCheck;
}

interface Size {
  readonly inputTokens: number;
  readonly maxOutputTokens: number;
}

/** Has a model check a text. Whatever fails is a problem, not an exception; a provider that is away is asked three times. */
export async function moderate(
  state: RunState,
  { check, policyRule }: ModelGuard,
  subject: GuardSubject,
  ports: RunPorts,
  signal: AbortSignal,
): Promise<Moderation> {
  const text = shownText(subject);
  if (text === "") return { finding: undefined };
  const model = modelFor(state, check);
  if (model === undefined) return failed("the run has no model for it");
  if (text.length > maxCheckedCharacters) {
    return failed(
      `a model checks at most ${maxCheckedCharacters} characters, and there are ${text.length}`,
    );
  }
  const maxOutputTokens = verdictTokens(model);
  const request = moderationRequest(check, subject, maxOutputTokens);
  const size = { inputTokens: requestTokens(request), maxOutputTokens };
  const budget = guardBudget(state, model, size, ports.clock.now());
  if ("problem" in budget) return failed(budget.problem);
  const limit = AbortSignal.timeout(budget.maxMs);
  const bounded = AbortSignal.any([signal, limit]);
  let answerBegan = false;
  for (let attempt = 1; ; attempt++) {
    try {
      // What the operator withholds from an author is not withheld from the operator.
      if (policyRule === "") assertModelAllowed(state, model, ports);
      let answer = "";
      const provider = await providerOf(model, ports, signal);
      for await (const part of provider.stream(
        { model, ...request, owner: ownerOf(state) },
        bounded,
      )) {
        answerBegan = true;
        if (part.kind === "text") answer += part.text;
        if (part.kind !== "turn") continue;
        const { turn } = part;
        const { inputTokens, outputTokens, costUsd } = chargedUsage({ turn, model, call: size });
        const usage = { inputTokens, outputTokens, ...(costUsd !== undefined && { costUsd }) };
        return { ...verdictOf(answer), model: turn.model, usage };
      }
      return { ...failed("its answer ended early"), ...chargedAtMost(model, size) };
    } catch (error) {
      signal.throwIfAborted();
      if (limit.aborted) {
        return {
          ...failed(`it took longer than ${budget.maxMs / 1_000} s`),
          ...chargedAtMost(model, size),
        };
      }
      if (!(error instanceof ModelFailure)) throw error;
      answerBegan ||= error.answerBegan;
      if (error.retryable && !answerBegan && attempt < maxAttempts) {
        await ports.clock.sleep(delayAfter(attempt, backoff), signal);
        continue;
      }
      const charge = reachedProvider(error)
        ? chargedAtMost(model, answerBegan ? size : { inputTokens: 0, maxOutputTokens: 0 })
        : {};
      return { ...failed(error.message), ...charge };
    }
  }
}

function modelFor(state: RunState, { model: named = "" }: ModelCheck): ModelSpec | undefined {
  const { guardrails } = pinnedGuardrails(state) ?? {};
  return named === ""
    ? state.head.prepared?.model
    : guardrails?.models.find(({ reference }) => reference === named)?.model;
}

function verdictOf(answer: string): Moderation {
  const verdict = verdictIn(answer);
  if (verdict === undefined) return failed("its answer is no verdict");
  const { isFlagged, reason } = verdict;
  const finding = {
    reason: reason || "it is not permitted",
    spans: [],
    strings: [],
    isReplaceable: false,
  };
  return { finding: isFlagged ? finding : undefined };
}

/** Returns the charge of a call without a whole answer: one call, and what it may have used. */
function chargedAtMost(
  { pricing, upstreamName }: ModelSpec,
  { inputTokens, maxOutputTokens: outputTokens }: Size,
): Pick<Moderation, "model" | "usage"> {
  const cached = { cachedInputTokens: 0, cacheWriteInputTokens: 0, reasoningTokens: 0 };
  const usage = { inputTokens, outputTokens };
  const costUsd = pricing === undefined ? undefined : costOf({ ...usage, ...cached }, pricing);
  const isFree = inputTokens === 0 && outputTokens === 0;
  const cost = costUsd ?? (isFree ? 0 : undefined);
  return { model: upstreamName, usage: { ...usage, ...(cost !== undefined && { costUsd: cost }) } };
}

function failed(problem: string): Moderation {
  return { finding: { problem: truncateToBytes(problem, maxProblemBytes) } };
}
