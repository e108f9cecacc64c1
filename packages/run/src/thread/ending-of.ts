import { TurnOutcome } from "@reeve/contracts/thread";
import type { ThreadFact } from "./append-thread.ts";
import type { ThreadState, Turn } from "./thread-state.ts";
import { turnOf } from "./thread-state.ts";
import { turnEnded } from "./turn-ended.ts";
import type { TurnRun } from "./turn-run.ts";

/** Returns the decision that ends a turn whose run has ended or is not its own. It appends nothing if the turn has ended. */
export function endingOf(
  { runId }: Turn,
  run: TurnRun,
): (state: ThreadState) => readonly ThreadFact[] {
  return (state) => {
    const turn = turnOf(state, runId);
    if (turn === undefined || turn.ended !== undefined) return [];
    const isOther = run.kind === "other";
    // A turn that never started adds nothing to the conversation.
    const value =
      isOther || !turn.isStarted
        ? { runId, outcome: TurnOutcome.CANCELLED }
        : turnEnded(runId, run.events);
    return [{ case: "turnEnded", value }];
  };
}
