import { anyPack } from "@bufbuild/protobuf/wkt";
import type { RunCreated } from "@reeve/contracts/run";
import { OnBusy, RunCreatedSchema } from "@reeve/contracts/run";
import { ErrorReason } from "@reeve/contracts/error";
import type { RunHead } from "@reeve/log/run-head";
import type { RunKey } from "@reeve/log/run-log";
import { Failure } from "@reeve/platform/failure";
import { queueTurn } from "@reeve/thread/queue-turn";
import { settleThread } from "@reeve/thread/settle-thread";
import { announceThread } from "@reeve/thread/thread-index";
import { activeTurn, turnOf, waitingTurns } from "@reeve/thread/thread-state";
import { cancelRun } from "./cancel-run.ts";
import type { GatewayPorts } from "./gateway-ports.ts";
import { readRun } from "./read-run.ts";

/**
 * Starts a run as a turn of its thread. Its place in the thread is written first, with all that the run is made from, so
 * that a run which is refused leaves nothing behind and one that was accepted comes to be whoever dies.
 */
export async function startTurn(
  ports: GatewayPorts,
  key: RunKey,
  created: RunCreated,
  onBusy: OnBusy,
  signal: AbortSignal,
): Promise<RunHead> {
  const { tenant, run } = key;
  const thread = { tenant, thread: created.threadId };
  await announceThread(ports.threadIndex, thread, signal);
  // A run that ended a moment ago may still have its turn.
  await settleThread(ports, thread, signal);
  const queued = { runId: run, runCreated: anyPack(RunCreatedSchema, created) };
  const whenBusy = onBusy === OnBusy.QUEUE || onBusy === OnBusy.INTERRUPT ? "queue" : "reject";
  await queueTurn(ports, thread, queued, whenBusy, signal);
  const state = await settleThread(ports, thread, signal);
  if (onBusy === OnBusy.INTERRUPT && turnOf(state, run)?.isStarted !== true) {
    // Those that wait go first: none of them is to begin when the one under way ends.
    const ahead = [...waitingTurns(state), activeTurn(state)].flatMap((turn) =>
      turn === undefined || turn.runId === run ? [] : [turn.runId],
    );
    const principal = { tenant, subject: created.startedBy };
    for (const runId of ahead) await interrupt(ports, principal, runId, signal);
    await settleThread(ports, thread, signal);
  }
  return await readRun(ports.log, key, signal);
}

/** One that has ended by itself meanwhile is out of the way too. */
async function interrupt(
  ports: GatewayPorts,
  principal: { readonly tenant: string; readonly subject: string },
  runId: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    await cancelRun(ports, principal, { runId, reason: "interrupted by a newer message" }, signal);
  } catch (error) {
    if (!(error instanceof Failure) || error.reason !== ErrorReason.RUN_ENDED) throw error;
  }
}
