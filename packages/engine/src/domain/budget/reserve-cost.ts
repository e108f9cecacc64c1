import { modelOf } from "../model/model-of.ts";
import type { Frame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { limitsOf } from "./limits.ts";

/**
 * Returns the maximum cost in US dollars of a model call of the frame with a prompt of `promptTokens`. Undefined: the run has
 * no cost limit, or the model no price; a run with a limit is not prepared with such a model.
 */
export function worstCaseUsd(
  state: RunState,
  frame: Frame,
  promptTokens: number,
): number | undefined {
  if (limitsOf(state).costUsd === undefined) return undefined;
  const model = modelOf(state, frame);
  const pricing = model?.pricing;
  if (pricing === undefined) return undefined;
  const answer = state.head.created?.spec?.maxTokens ?? model?.maxOutputTokens ?? 0;
  return (
    (promptTokens * pricing.inputUsdPerMillion + answer * pricing.outputUsdPerMillion) / 1_000_000
  );
}

/** Returns what the run has cost, plus what its model calls in progress and its lost ones may cost at most. */
export function committedUsd({ head: { spent }, lostUsd, frames }: RunState): number {
  const open = [...frames.values()].reduce(
    (sum, { modelCall }) => sum + (modelCall?.reservedUsd ?? 0),
    0,
  );
  return (spent.costUsd ?? 0) + lostUsd + open;
}
