import type { Fact } from "../state/fact.ts";
import { fact } from "../state/fact.ts";
import type { Frame, TurnUnit } from "../state/frame.ts";
import { scopeOf } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { liveFrames } from "../state/run-state.ts";

/** Returns the turn of the open or last step of a frame, if guards refused it. */
export function refusedTurn({ hasTurn, units }: Frame): TurnUnit | undefined {
  const newest = units.newest?.value;
  return hasTurn && newest?.kind === "turn" && newest.refusal !== undefined ? newest : undefined;
}

/** Whether guards refused the last answer of a frame, so that it is none. */
export function isRefused(frame: Frame): boolean {
  return refusedTurn(frame) !== undefined;
}

/** Returns the fact that the text of a refused answer is void, if it was shown. */
export function voidRefused(frame: Frame): readonly Fact[] {
  const { turnStreamedFrom } = frame;
  if (turnStreamedFrom === undefined || !isRefused(frame)) return [];
  return [fact(scopeOf(frame), { case: "textVoided", value: { firstSequence: turnStreamedFrom } })];
}

/** Returns the facts that the texts of all refused answers are void: the run ends. */
export function voidAllRefused(state: RunState): readonly Fact[] {
  return liveFrames(state).flatMap(voidRefused);
}
