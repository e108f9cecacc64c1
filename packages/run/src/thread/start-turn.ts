import { ErrorReason } from "@reeve/contracts/error";
import type { RunCreated } from "@reeve/contracts/run";
import type { OpenTurn } from "@reeve/contracts/thread";
import type { RunHead } from "../head/run-head.ts";
import type { ThreadKey } from "@reeve/jetstream/log/thread-log";
import { Failure } from "@reeve/platform/failure";
import type { PlacedRun, QueuedRun } from "./queue-turn.ts";
import { queueTurn } from "./queue-turn.ts";
import { refreshThread } from "./read-thread.ts";
import { reusedRequestId } from "./refusals.ts";
import { dispatchTurn, settleFrom } from "./settle-thread.ts";
import type { ThreadPorts } from "./thread-ports.ts";
import type { ThreadView } from "./thread-head.ts";
import { openTurn } from "./thread-head.ts";
import { existingRun, runOfTurn, writeRunOfTurn } from "./turn-run.ts";

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
  const { runId } = run;
  const reused = () => reusedRequestId(created.requestId, runId);
  const before = await refreshThread(ports.threads, key, undefined, signal);
  const { seen, isNew } = await placed(ports, key, before, run, signal);
  const turn = openTurn(seen.head, runId);
  if (turn !== undefined && !isSame(key, turn, created)) throw reused();
  const own =
    turn === undefined
      ? await existingRun(ports.log, key, { runId, requestHash: created.requestHash }, signal)
      : isNew
        ? await writeRunOfTurn(ports, key, { turn, created }, signal)
        : await runOfTurn(ports, key, turn, signal);
  if (own?.kind !== "own") {
    await settleFrom(ports, key, seen, signal);
    throw reused();
  }
  if (isNew && turn?.started === true) await dispatchTurn(ports, key, runId, signal);
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
): Promise<PlacedRun> {
  try {
    return await queueTurn(ports, key, seen, run, signal);
  } catch (error) {
    if (!(error instanceof Failure) || error.reason !== ErrorReason.THREAD_BUSY) throw error;
  }
  // The turn of a run that has just ended may still be open.
  await settleFrom(ports, key, seen, signal);
  const settled = await refreshThread(ports.threads, key, seen, signal);
  return await queueTurn(ports, key, settled, run, signal);
}

function isSame({ thread }: ThreadKey, { requestHash }: OpenTurn, created: RunCreated): boolean {
  return created.threadId === thread && Buffer.compare(requestHash, created.requestHash) === 0;
}
