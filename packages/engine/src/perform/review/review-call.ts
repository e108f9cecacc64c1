import { createHash } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { needsPasskey } from "@reeve/agent/approval-times/needs-passkey";
import { reviewerVotes } from "@reeve/agent/deciders/reviewer";
import { truncateToBytes } from "@reeve/agent/text/truncate-to-bytes";
import type { ModelSpec } from "@reeve/contracts/agent";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalReviewSchema, ApprovalSchema, ReviewAdvice } from "@reeve/contracts/approval";
import { PermissionBehavior } from "@reeve/contracts/tool";
import { decisionTime, tooEarly } from "@reeve/run/approvals/times/decidable";
import { reachedProvider } from "@reeve/run/head/reached-provider";
import { reviewBudget } from "../../domain/budget/review-budget.ts";
import type { ReviewSize } from "../../domain/budget/review-size.ts";
import { reviewSize } from "../../domain/budget/review-size.ts";
import { adviceIn, reviewRequest } from "../../domain/calls/review/review-call.ts";
import { reviewedCall } from "../../domain/calls/review/reviewed-call.ts";
import { delegatesPermitVotes, reviewingFrame } from "../../domain/calls/review/reviewing-frame.ts";
import { isTooLargeToVote } from "../../domain/calls/review/reviewer-vote.ts";
import { modelOf } from "../../domain/model/model-of.ts";
import { chargedUsage } from "../../domain/model/model-turn-facts.ts";
import { costOf } from "../../domain/model/price.ts";
import type { Effect } from "../../domain/next-effects.ts";
import type { Fact } from "../../domain/state/fact.ts";
import { fact } from "../../domain/state/fact.ts";
import type { RunState } from "../../domain/state/run-state.ts";
import { frameOf } from "../../domain/state/run-state.ts";
import { ModelFailure } from "../../ports/model-provider.ts";
import type { RunPorts } from "../../ports/run-ports.ts";
import { assertModelAllowed, providerOf } from "../models/model-access.ts";
import { ownerOf } from "../models/owner-of.ts";
import { permissionNow } from "../policy-now.ts";

type ReviewCall = Extract<Effect, { kind: "review_call" }>;
type Review = Exclude<
  MessageInitShape<typeof ApprovalReviewSchema>,
  { readonly $typeName: string }
>;

const maxProblemBytes = 1_000;

/**
 * Has a model advise on a call, and adds the advice to its approval. Whatever fails is recorded in its place, once, so that the approval
 * never waits for a review, and no later worker tries again.
 */
export async function* reviewCall(
  state: RunState,
  effect: ReviewCall,
  ports: RunPorts,
  signal: AbortSignal,
): AsyncIterable<readonly Fact[]> {
  const { approval } = effect.call;
  if (approval === undefined) return;
  const given = await reviewOf(state, effect, ports, signal);
  const revision = approval.revision + 1;
  const nowMs = ports.clock.now();
  const tool = frameOf(state, effect.frame).tools.get(effect.call.call.name);
  const { isWhole } = reviewedCall(tool, effect.call);
  const review = create(ApprovalReviewSchema, {
    ...given,
    revision,
    reviewedAt: timestampFromMs(nowMs),
    rubricSha256: createHash("sha256").update(effect.reviewer.rubric).digest("hex"),
    partial: !isWhole,
    votes: isWhole && isVote(state, effect, { approval, advice: given.advice, nowMs }, ports),
  });
  const reviewed = create(ApprovalSchema, { ...approval, revision, review });
  yield [fact(effect.scope, { case: "approval", value: { approval: reviewed } })];
}

interface GivenAdvice {
  readonly approval: Approval;
  readonly advice: ReviewAdvice | undefined;
  readonly nowMs: number;
}

/** Whether advice is a vote now: by the agent's policy, and by what the operator's says of approvals. */
function isVote(
  state: RunState,
  { call, frame }: ReviewCall,
  { approval, advice, nowMs }: GivenAdvice,
  ports: RunPorts,
): boolean {
  const approves = advice === ReviewAdvice.APPROVE;
  const { head } = state;
  const { created } = head;
  const agentPolicy = created?.spec?.approvalPolicy;
  if (!approves && advice !== ReviewAdvice.REJECT) return false;
  if (isTooLargeToVote(approval) || !reviewerVotes(agentPolicy, approval, approves)) return false;
  if (!approves) return true;
  if (!delegatesPermitVotes(state, frameOf(state, frame))) return false;
  // A rule that asks and came after the preparation of the run asks no person there, but it permits no model either.
  const tool = frameOf(state, frame).tools.get(call.call.name);
  const permission = tool && permissionNow(state, tool, { call, frame }, ports);
  if (permission?.behavior === PermissionBehavior.ASK) return false;
  const rules = { tenant: created?.tenant ?? "", times: ports.policy()?.approvals, agentPolicy };
  return (
    !needsPasskey(approval, { ...rules, head }) &&
    tooEarly(approval, decisionTime(rules, nowMs)) === undefined
  );
}

async function reviewOf(
  state: RunState,
  { call, frame: frameId, reviewer }: ReviewCall,
  ports: RunPorts,
  signal: AbortSignal,
): Promise<Review> {
  const frame = frameOf(state, frameId);
  const reviewing = reviewingFrame(state, frame);
  const model = modelOf(state, reviewing);
  if (model === undefined) return problem("the run has no model");
  const size = reviewSize(frame, call, reviewer, model);
  const request = reviewRequest(frame, call, { ...reviewer, maxTokens: size.maxOutputTokens });
  const budget = reviewBudget(state, reviewing, size, ports.clock.now());
  if ("problem" in budget) return problem(budget.problem);
  const limit = AbortSignal.timeout(budget.maxMs);
  const bounded = AbortSignal.any([signal, limit]);
  let answerBegan = false;
  const failed = (text: string): Review => ({
    ...problem(text),
    ...chargedAtMost(model, answerBegan ? size : { inputTokens: 0, maxOutputTokens: 0 }),
  });
  try {
    assertModelAllowed(state, model, ports);
    let answer = "";
    const sent = { model, ...request, owner: ownerOf(state) };
    const parts = (await providerOf(model, ports, signal)).stream(sent, bounded);
    for await (const part of parts) {
      answerBegan = true;
      if (part.kind === "text") answer += part.text;
      if (part.kind !== "turn") continue;
      const { inputTokens, outputTokens, costUsd } = chargedUsage({
        turn: part.turn,
        model,
        call: size,
      });
      const usage = { inputTokens, outputTokens, ...(costUsd !== undefined && { costUsd }) };
      const charged = { model: part.turn.model, usage };
      const advice = adviceIn(answer);
      return advice === undefined
        ? { ...problem("its answer is no advice"), ...charged }
        : { ...advice, ...charged };
    }
    return failed("its answer ended early");
  } catch (error) {
    signal.throwIfAborted();
    if (limit.aborted) {
      // A provider that is at work bills what it has read and written, and says nothing about it.
      answerBegan = true;
      return failed(`it took longer than ${budget.maxMs / 1_000} s`);
    }
    if (!(error instanceof ModelFailure)) throw error;
    answerBegan ||= error.answerBegan;
    return reachedProvider(error) ? failed(error.message) : problem(error.message);
  }
}

/** Returns the charge of a call without a whole answer: one call, and what it may have used. */
function chargedAtMost(
  model: ModelSpec,
  { inputTokens, maxOutputTokens }: ReviewSize,
): Pick<Review, "model" | "usage"> {
  const usage = { inputTokens, outputTokens: maxOutputTokens };
  const cached = { cachedInputTokens: 0, cacheWriteInputTokens: 0, reasoningTokens: 0 };
  const { pricing, upstreamName } = model;
  if (pricing !== undefined) {
    const costUsd = costOf({ ...usage, ...cached }, pricing);
    return { model: upstreamName, usage: { ...usage, costUsd } };
  }
  // Only tokens without a price make the cost of the run unknown.
  return { model: upstreamName, usage: { ...usage, ...(inputTokens === 0 && { costUsd: 0 }) } };
}

function problem(text: string): Review {
  return { problem: truncateToBytes(text, maxProblemBytes) };
}
