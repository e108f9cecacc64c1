import { isTerminal } from "../head/run-status.ts";
import type { ThreadKey } from "@reeve/jetstream/log/thread-log";
import type { ThreadHead } from "@reeve/contracts/thread";
import { appendThread } from "./append-thread.ts";
import { endingOf } from "./ending-of.ts";
import { refreshThread } from "./read-thread.ts";
import { settleFrom } from "./settle-thread.ts";
import { waitingTurns } from "./thread-head.ts";
import type { ThreadPorts } from "./thread-ports.ts";
import { runOfTurn } from "./turn-run.ts";

/**
 * Settles a thread, including its waiting runs: writes the runs that were never written and ends the turns of cancelled
 * ones. Used by sweeps, because it reads the log of every waiting run.
 */
export async function repairThread(
  ports: ThreadPorts,
  key: ThreadKey,
  signal: AbortSignal,
): Promise<ThreadHead> {
  let seen = await refreshThread(ports.threads, key, undefined, signal);
  for (const turn of waitingTurns(seen.head)) {
    const run = await runOfTurn(ports, key, turn, signal);
    if (run.kind !== "own" || isTerminal(run.head.status)) {
      seen = await appendThread(ports.threads, key, seen, endingOf(turn, run), signal);
    }
  }
  return await settleFrom(ports, key, seen, signal);
}
