import { RunStatus, StepState } from "@reeve/contracts/run";
import { endRun, failRun } from "./end-run.ts";
import type { Fact, Scope } from "./fact.ts";
import { fact, rootScope } from "./fact.ts";
import { gateCall } from "./gate-call.ts";
import { limitsOf } from "./limits.ts";
import { modelCallRetry } from "./model-retry.ts";
import type { Frame, RunState } from "./run-state.ts";

/**
 * The facts that follow from `state` and need nothing from outside. To be applied, and asked again, until there are none:
 * then only effects, or facts from others, move the run on.
 */
export function consequences(state: RunState, nowMs: number): readonly Fact[] {
  if (state.end !== undefined || state.created === undefined || state.claim === undefined)
    return [];
  if (state.idleClaims > limitsOf(state).idleClaims) return lost(state);
  if (state.prepared === undefined) return [];
  const { frame } = state;
  if (!frame.stepOpen) return nextStep(state, frame);
  if (!frame.turnTaken) return modelCallRetry(state, frame, scopeOf(frame));
  return stepWithTurn(state, frame, nowMs);
}

/** Where the frame is. */
export function scopeOf(frame: Frame): Scope {
  return { ...rootScope, step: frame.step };
}

function lost(state: RunState): readonly Fact[] {
  const message = `${state.idleClaims} workers in a row took the run and got nowhere; see their logs`;
  return failRun(state, scopeOf(state.frame), "worker_lost", message);
}

function nextStep(state: RunState, frame: Frame): readonly Fact[] {
  const limits = limitsOf(state);
  if (frame.step >= limits.rounds) {
    const message = `the run took ${frame.step} steps without an answer; raise max_rounds or narrow the task`;
    return failRun(state, rootScope, "iteration_limit", message);
  }
  if (state.spent.llmCalls >= limits.llmCalls) {
    return overBudget(state, "llm_calls", limits.llmCalls, state.spent.llmCalls + 1);
  }
  const scope: Scope = { ...rootScope, step: frame.step + 1 };
  return [
    fact(scope, { case: "step", value: { state: StepState.STARTED } }),
    ...state.inbox.map(({ messageId, message }) =>
      fact(scope, {
        case: "messageInjected",
        value: { messageId, ...(message && { message }) },
      }),
    ),
    fact(scope, { case: "modelCallStarted", value: { attempt: 1 } }),
  ];
}

function stepWithTurn(state: RunState, frame: Frame, nowMs: number): readonly Fact[] {
  const scope = scopeOf(frame);
  const { toolCalls } = limitsOf(state);
  if (state.spent.toolCalls > toolCalls) {
    const refused = frame.calls
      .filter(({ result }) => result === undefined)
      .flatMap((call) =>
        gateCall(state, call, scope, { nowMs, refusal: budgetRefusal(toolCalls) }),
      );
    return refused.length > 0
      ? refused
      : overBudget(state, "tool_calls", toolCalls, state.spent.toolCalls);
  }
  const gated = frame.calls.flatMap((call) => gateCall(state, call, scope, { nowMs }));
  if (gated.length > 0) return gated;
  if (frame.calls.some(({ result }) => result === undefined)) return [];
  const completed = fact(scope, { case: "step", value: { state: StepState.COMPLETED } });
  const answered = frame.calls.length === 0 && state.inbox.length === 0;
  return answered ? [completed, ...endRun(state, RunStatus.COMPLETED)] : [completed];
}

function budgetRefusal(limit: number): string {
  return `the run may make ${limit} tool calls and has made them`;
}

function overBudget(
  state: RunState,
  reason: string,
  limit: number,
  observed: number,
): readonly Fact[] {
  const scope = scopeOf(state.frame);
  const message = `the run may use ${limit} ${reason.replace("_", " ")}; raise budgets.max_${reason} or narrow the task`;
  return [
    fact(scope, { case: "budgetExceeded", value: { reason, limit, observed } }),
    ...failRun(state, scope, "budget_exceeded", message),
  ];
}
