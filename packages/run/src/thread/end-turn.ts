import { isTerminal } from "../head/run-status.ts";
import type { ThreadKey } from "@reeve/jetstream/log/thread-log";
import { appendThread, refreshThread } from "./append-thread.ts";
import { endingOf } from "./ending-of.ts";
import { settleFrom } from "./settle-thread.ts";
import type { ThreadPorts } from "./thread-ports.ts";
import type { ThreadState } from "./thread-state.ts";
import { turnOf } from "./thread-state.ts";
import { runOfTurn } from "./turn-run.ts";

/**
 * Ends the turn of a run that has ended and starts the next turn. A run that ended while it waited loses its place; the
 * other runs keep waiting. The writer of the run's terminal status calls this. Does nothing if the turn has ended already,
 * or if the run continues.
 */
export async function endTurn(
  ports: ThreadPorts,
  key: ThreadKey,
  runId: string,
  signal: AbortSignal,
): Promise<ThreadState> {
  let seen = await refreshThread(ports.threads, key, undefined, signal);
  const turn = turnOf(seen.state, runId);
  if (turn !== undefined && turn.ended === undefined && !turn.isStarted) {
    const run = await runOfTurn(ports, key, turn, signal);
    if (run.kind === "other" || isTerminal(run.head.status)) {
      seen = await appendThread(ports.threads, key, seen, endingOf(turn, run), signal);
    }
  }
  return await settleFrom(ports, key, seen, signal);
}
