import { modelOf } from "../model/model-of.ts";
import type { Frame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { limitsOf } from "./limits.ts";

/**
 * The most that a call of the frame's model can cost, in US dollars, when it reads `promptTokens`. Undefined: there is no
 * cap, or nothing to reckon with; a run under a cap is not prepared with such a model.
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

/** What the run has cost, what its calls under way may cost, and what calls that were lost may have cost. */
export function committedUsd({ head: { spent }, lostUsd, frames }: RunState): number {
  const open = [...frames.values()].reduce(
    (sum, { modelCall }) => sum + (modelCall?.reservedUsd ?? 0),
    0,
  );
  return (spent.costUsd ?? 0) + lostUsd + open;
}
