import { failFrame, outsideSteps } from "../end-frame.ts";
import type { Fact } from "../state/fact.ts";
import type { Frame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { guardrailTripped } from "./guard-stop.ts";
import { isRefused } from "./refused-turn.ts";

/** How many answers in a row guards may refuse before the frame fails. */
const maxRefusals = 1;

/** Returns the facts that end a frame whose answers guards refuse again and again. None: the model may answer once more. */
export function endRefused(state: RunState, frame: Frame): readonly Fact[] {
  let refusals = 0;
  let last: string | undefined;
  for (let entry = frame.units.newest; entry !== undefined; entry = entry.before) {
    const { value } = entry;
    if (value.kind === "user") continue;
    if (value.kind !== "turn" || value.refusal === undefined) break;
    refusals += 1;
    last ??= value.refusal;
  }
  if (!isRefused(frame) || refusals <= maxRefusals) return [];
  const message = `${refusals} answers in a row were refused: ${last ?? ""}`;
  return failFrame(state, outsideSteps(frame), guardrailTripped, message);
}
