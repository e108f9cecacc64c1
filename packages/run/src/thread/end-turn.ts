import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { isTerminal } from "../head/run-status.ts";
import type { ThreadKey } from "@reeve/jetstream/log/thread-log";
import type { ThreadHead } from "@reeve/contracts/thread";
import { appendThread } from "./append-thread.ts";
import { endingOf } from "./ending-of.ts";
import { refreshThread } from "./read-thread.ts";
import { settleFrom } from "./settle-thread.ts";
import { openTurn } from "./thread-head.ts";
import type { ThreadPorts } from "./thread-ports.ts";
import { runOfTurn } from "./turn-run.ts";

/**
 * Ends the turn of a run that has ended and starts the next turn. A run that ended while it waited loses its place; the
 * other runs keep waiting. The writer of the run's terminal status calls this. Does nothing if the turn has ended already,
 * or if the run continues. If a full store cannot start the next turn, `repairThread` does it later.
 */
export async function endTurn(
  ports: ThreadPorts,
  key: ThreadKey,
  runId: string,
  signal: AbortSignal,
): Promise<ThreadHead> {
  let seen = await refreshThread(ports.threads, key, undefined, signal);
  const turn = openTurn(seen.head, runId);
  if (turn !== undefined && !turn.started) {
    const run = await runOfTurn(ports, key, turn, signal);
    if (run.kind !== "own" || isTerminal(run.head.status)) {
      seen = await appendThread(ports.threads, key, seen, endingOf(turn, run), signal);
    }
  }
  try {
    return await settleFrom(ports, key, seen, signal);
  } catch (error) {
    if (!(error instanceof Failure) || error.reason !== ErrorReason.STORAGE_FULL) throw error;
    const { head } = await refreshThread(ports.threads, key, seen, signal);
    // The store had no room for another turn: this run is not to blame, and can be deleted.
    if (openTurn(head, runId) === undefined) return head;
    throw error;
  }
}
