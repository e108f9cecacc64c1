import type { Effect } from "../next-effects.ts";
import { awaitsPerson } from "../next-effects.ts";
import type { RunState } from "../state/run-state.ts";
import { openDelays } from "../workflow/delays.ts";

/**
 * Returns `effects`, or none if each of them only waits: for a person, or for a timer of a plugin or a workflow that is due after `untilMs`, in
 * milliseconds since the epoch. The run is then parked, and woken for its first timer.
 */
export function withoutFarTimers(effects: readonly Effect[], untilMs: number): readonly Effect[] {
  return effects.every((effect) => awaitsPerson(effect) || isFarTimer(effect, untilMs))
    ? []
    : effects;
}

function isFarTimer(effect: Effect, untilMs: number): boolean {
  if (effect.kind === "wait_for_delay") return effect.dueAtMs > untilMs;
  return effect.kind === "run_hook" && (effect.due.action?.dueAtMs ?? -Infinity) > untilMs;
}

/** Returns when the first timer of a plugin or a workflow is due, in milliseconds since the epoch. Undefined: there is none. */
export function timerDueMs(state: RunState): number | undefined {
  const actions = state.plugins?.actions ?? [];
  const times = [...actions, ...openDelays(state)].flatMap(({ dueAtMs }) => dueAtMs ?? []);
  return times.length === 0 ? undefined : Math.min(...times);
}
