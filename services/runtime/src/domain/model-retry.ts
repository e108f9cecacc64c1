import { durationMs } from "@bufbuild/protobuf/wkt";
import { failRun } from "./end-run.ts";
import type { Fact, Scope } from "./fact.ts";
import { fact } from "./fact.ts";
import { limitsOf } from "./limits.ts";
import type { Frame, ModelCall, RunState } from "./run-state.ts";

/**
 * What follows for a step whose model has not answered: an attempt that was abandoned is made again at once, one that
 * failed for good ends the run, and text of either is voided. An attempt that may be repeated waits first: that is an effect.
 */
export function modelCallRetry(state: RunState, frame: Frame, scope: Scope): readonly Fact[] {
  const call = frame.modelCall;
  if (call === undefined) return [fact(scope, { case: "modelCallStarted", value: { attempt: 1 } })];
  if (call.status === "under_way") return [];
  if (call.streamedFrom !== undefined) {
    return [fact(scope, { case: "textVoided", value: { firstSequence: call.streamedFrom } })];
  }
  const limits = limitsOf(state);
  if (call.status === "abandoned") {
    // Counted against the budget like any other call, but not against the attempts: no provider failed.
    if (state.spent.llmCalls < limits.llmCalls) return [anotherAttempt(call, scope)];
    const message = `the run may use ${limits.llmCalls} llm calls; raise budgets.max_llm_calls or narrow the task`;
    const observed = state.spent.llmCalls + 1;
    return [
      fact(scope, {
        case: "budgetExceeded",
        value: { reason: "llm_calls", limit: limits.llmCalls, observed },
      }),
      ...failRun(state, scope, "budget_exceeded", message),
    ];
  }
  if (call.status.retryable && call.attempt < limits.modelAttempts) return [];
  const attempts = call.attempt === 1 ? "" : ` after ${call.attempt} attempts`;
  return failRun(
    state,
    scope,
    "provider_failed",
    `model ${state.prepared?.model?.id ?? ""} gave no answer${attempts}: ${call.status.message}`,
  );
}

/** The attempt after `call`. */
export function anotherAttempt(call: ModelCall, scope: Scope): Fact {
  return fact(scope, { case: "modelCallStarted", value: { attempt: call.attempt + 1 } });
}

/** How long to wait before the attempt after `call`, or undefined when there is nothing to wait for. */
export function retryDelayMs(call: ModelCall): number | undefined {
  if (typeof call.status === "string") return undefined;
  const asked = call.status.retryAfter;
  const doubling = Math.min(500 * 2 ** (call.attempt - 1), 30_000);
  return asked === undefined ? doubling : Math.min(durationMs(asked), 300_000);
}
