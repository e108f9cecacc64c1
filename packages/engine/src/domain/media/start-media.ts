import { mediaKindOf } from "@reeve/agent/media/media-kinds";
import { ToolStatus } from "@reeve/contracts/tool";
import { delegateBudgets } from "../budget/delegate-budget.ts";
import { limitsOf } from "../budget/limits.ts";
import { delegateRefusal } from "../budget/over-budget.ts";
import { committedUsd } from "../budget/reserve-cost.ts";
import { approvedCall } from "../calls/approved-call.ts";
import type { OutgoingCall } from "../calls/schedule-calls.ts";
import { refuse } from "../calls/tool-result.ts";
import type { Fact } from "../state/fact.ts";
import { fact } from "../state/fact.ts";
import { scopeOf } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { maxCostOf, mediaModelOf } from "./media-call.ts";

/** How many attempts of one generation may be lost with their workers: each may cost as much as one that is not. */
const maxAttempts = 3;

/**
 * Returns the facts that start a generation, which reserves its maximum cost, or refuse it. Without a kind of media, the call of another
 * tool, none.
 */
export function startMedia(
  state: RunState,
  { frame, call, tool }: OutgoingCall,
  attempt: number,
  nowMs: number,
): readonly Fact[] {
  const kind = mediaKindOf(tool);
  if (kind === undefined) return [];
  const scope = scopeOf(frame);
  const refused = (problem: string) => [refuse(call, scope, problem, ToolStatus.ERROR, nowMs)];
  if (attempt > maxAttempts) {
    return refused(
      `the workers of ${maxAttempts} attempts were lost; the provider may have generated and charged each of them, so it is not asked again`,
    );
  }
  const model = mediaModelOf(state, frame, kind);
  const reservedUsd = maxCostOf(kind, model, approvedCall(call).arguments ?? {});
  const problem = costProblem(state, { frame, call, tool }, reservedUsd ?? 0);
  if (problem !== undefined) return refused(problem);
  const { callId } = call.call;
  const value = {
    callId,
    attempt,
    model: model?.upstreamName ?? "",
    ...(reservedUsd !== undefined && { reservedUsd }),
  };
  return [fact(scope, { case: "mediaCallStarted", value })];
}

/** Returns the facts that repeat the first generation whose worker was lost, or give it up. */
export function restartMedia(
  state: RunState,
  calls: readonly OutgoingCall[],
  nowMs: number,
): readonly Fact[] {
  for (const outgoing of calls) {
    const { media } = outgoing.call;
    if (mediaKindOf(outgoing.tool) === undefined) continue;
    if (media === undefined) return startMedia(state, outgoing, 1, nowMs);
    if (media.status === "lost") return startMedia(state, outgoing, media.attempt + 1, nowMs);
  }
  return [];
}

/** Returns why a limit on cost leaves too little for a generation. Undefined: it leaves enough. */
function costProblem(state: RunState, { frame }: OutgoingCall, usd: number): string | undefined {
  const { costUsd } = limitsOf(state);
  const committed = costUsd === undefined ? 0 : committedUsd(state);
  if (costUsd !== undefined && committed + usd > costUsd) {
    return `the run may cost ${costUsd} USD, and this generation could bring it to ${(committed + usd).toFixed(6)} USD; raise budgets.max_cost_usd or generate less`;
  }
  const over = delegateBudgets(state, frame).find(
    ({ limits, committedUsd: used }) =>
      limits.costUsd !== undefined && used() + usd > limits.costUsd,
  );
  return over && delegateRefusal(over.agentId, { reason: "cost", limit: over.limits.costUsd ?? 0 });
}
