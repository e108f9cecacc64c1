import type { OpenTurn, ThreadHead } from "@reeve/contracts/thread";
import { TurnOutcome } from "@reeve/contracts/thread";
import type { ThreadFact } from "./append-thread.ts";
import { openTurn } from "./thread-head.ts";
import { turnEnded } from "./turn-ended.ts";
import type { TurnRun } from "./turn-run.ts";

/** Returns the decision that ends a turn whose run has ended or is not its own. It appends nothing if the turn has ended. */
export function endingOf(
  { runId }: OpenTurn,
  run: TurnRun,
): (head: ThreadHead) => readonly ThreadFact[] {
  return (head) => {
    const turn = openTurn(head, runId);
    if (turn === undefined) return [];
    // A turn that never started adds nothing to the conversation.
    const value =
      run.kind !== "own" || !turn.started
        ? { runId, outcome: TurnOutcome.CANCELLED }
        : turnEnded(runId, run.events, run.head);
    return [{ case: "turnEnded", value }];
  };
}
