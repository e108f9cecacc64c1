import type { RunEnding } from "@reeve/contracts/run";
import { RunStatus } from "@reeve/contracts/run";
import { failRun } from "../end-run.ts";
import { voidAllRefused } from "../guardrails/refused-turn.ts";
import type { Fact } from "../state/fact.ts";
import { fact, rootScope } from "../state/fact.ts";
import type { RunState } from "../state/run-state.ts";
import { awaitsHooks, runEnd } from "./hook-points.ts";

/** Returns the facts that end a run because a plugin says so. None: none does. */
export function stopByPlugin(state: RunState): readonly Fact[] {
  const stop = state.plugins?.stop;
  return stop === undefined
    ? []
    : [...voidAllRefused(state), ...failRun(state, rootScope, stop.error, stop.message)];
}

/**
 * Returns `facts`, unless they end the run and hooks come first: then the announcement of the end, once, or none while the hooks run.
 * The end follows from the state again when they have ended. A plugin that ends the run gets no further hooks.
 */
export function afterRunEndHooks(state: RunState, facts: readonly Fact[]): readonly Fact[] {
  const { plugins } = state;
  if (plugins === undefined || plugins.stop !== undefined) return facts;
  const value = facts.map(endIn).find((end) => end !== undefined);
  if (value === undefined || !awaitsHooks(state, runEnd(state))) return facts;
  return plugins.ending === undefined ? [fact(rootScope, { case: "runEnding", value })] : [];
}

/** Returns how a fact ends a run. Undefined: it does not. */
function endIn({ event }: Fact): Pick<RunEnding, "status" | "message"> | undefined {
  if (event.case === "budgetExceeded") {
    return { status: RunStatus.ERROR, message: `the budget ${event.value.reason} is used up` };
  }
  if (event.case !== "status") return undefined;
  const { status, message = "" } = event.value;
  return status === RunStatus.COMPLETED || status === RunStatus.ERROR
    ? { status, message }
    : undefined;
}
