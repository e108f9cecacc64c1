import { TurnOutcome } from "@reeve/contracts/thread";
import type { ThreadFact } from "./append-thread.ts";
import type { ThreadState, Turn } from "./thread-state.ts";
import { turnOf } from "./thread-state.ts";
import { turnEnded } from "./turn-ended.ts";
import type { TurnRun } from "./turn-run.ts";

/** What is to be said of a turn whose run has ended, or is not its own; nothing when somebody has said it. */
export function endingOf(
  { runId }: Turn,
  run: TurnRun,
): (state: ThreadState) => readonly ThreadFact[] {
  return (state) => {
    const turn = turnOf(state, runId);
    if (turn === undefined || turn.ended !== undefined) return [];
    const isOther = run.kind === "other";
    // A turn that never came adds nothing to the conversation.
    const value =
      isOther || !turn.isStarted
        ? { runId, outcome: TurnOutcome.CANCELLED }
        : turnEnded(runId, run.events);
    return [{ case: "turnEnded", value }];
  };
}
