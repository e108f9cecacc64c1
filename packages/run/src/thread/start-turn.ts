import { ErrorReason } from "@reeve/contracts/error";
import type { RunCreated } from "@reeve/contracts/run";
import type { RunHead } from "../head/run-head.ts";
import type { ThreadKey } from "@reeve/jetstream/log/thread-log";
import { Failure } from "@reeve/platform/failure";
import type { ThreadView } from "./append-thread.ts";
import { refreshThread } from "./append-thread.ts";
import type { QueuedRun } from "./queue-turn.ts";
import { queueTurn } from "./queue-turn.ts";
import { reusedRequestId } from "./refusals.ts";
import { dispatchTurn, settleFrom } from "./settle-thread.ts";
import type { ThreadPorts } from "./thread-ports.ts";
import type { Turn } from "./thread-state.ts";
import { turnOf } from "./thread-state.ts";
import { runCreatedOf, runOfTurn, writeRunOfTurn } from "./turn-run.ts";

/**
 * Starts a run as a turn of its thread. Its place in the thread is written first, with everything that the run is made
 * from: a refused run leaves nothing behind, and an accepted run is started even if this process dies. Repeating the same
 * request returns the same run; a different request with the same id is refused.
 */
export async function startTurn(
  ports: ThreadPorts,
  key: ThreadKey,
  run: QueuedRun,
  created: RunCreated,
  signal: AbortSignal,
): Promise<RunHead> {
  const before = await refreshThread(ports.threads, key, undefined, signal);
  const isNew = turnOf(before.state, run.runId) === undefined;
  const seen = await placed(ports, key, before, run, signal);
  const turn = turnOf(seen.state, run.runId);
  if (turn === undefined) throw new Error(`run ${run.runId} has no turn in thread ${key.thread}`);
  if (!isSame(turn, created)) throw reusedRequestId(created.requestId, run.runId);
  const write = isNew ? writeRunOfTurn : runOfTurn;
  const own = await write(ports, key, turn, signal);
  if (own.kind === "other") {
    await settleFrom(ports, key, seen, signal);
    throw reusedRequestId(created.requestId, run.runId);
  }
  if (isNew && turn.isStarted) await dispatchTurn(ports, key, run.runId, signal);
  // The writer that ends the turn before it starts this one.
  else if (!isNew || run.whenBusy === "interrupt") await settleFrom(ports, key, seen, signal);
  return own.head;
}

async function placed(
  ports: ThreadPorts,
  key: ThreadKey,
  seen: ThreadView,
  run: QueuedRun,
  signal: AbortSignal,
): Promise<ThreadView> {
  try {
    return await queueTurn(ports, key, seen, run, signal);
  } catch (error) {
    if (!(error instanceof Failure) || error.reason !== ErrorReason.THREAD_BUSY) throw error;
  }
  // The turn of a run that has just ended may still be open.
  await settleFrom(ports, key, seen, signal);
  return await queueTurn(
    ports,
    key,
    await refreshThread(ports.threads, key, seen, signal),
    run,
    signal,
  );
}

function isSame(turn: Turn, { requestHash, threadId }: RunCreated): boolean {
  const queued = runCreatedOf(turn);
  return queued.threadId === threadId && Buffer.compare(queued.requestHash, requestHash) === 0;
}
