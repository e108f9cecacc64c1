import { ErrorReason } from "@reeve/contracts/error";
import { RunStatus } from "@reeve/contracts/run";
import { cancelRun as cancelRunOf } from "@reeve/run/commands/cancel-run";
import type { AppendExternalPorts } from "@reeve/run/commands/append-external";
import { runHasEnded } from "@reeve/run/commands/append-external";
import type { RunHead } from "@reeve/run/head/run-head";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import type { Principal } from "@reeve/platform/rpc/principal";
import { Failure } from "@reeve/platform/failure";
import { endTurn } from "@reeve/run/thread/end-turn";
import type { GatewayPorts } from "./gateway-ports.ts";
import { runNotFound, readRun, runKeyOf } from "./read-run.ts";

type CancelPorts = Pick<GatewayPorts, "log" | "journal" | "dispatch" | "threads"> &
  Pick<AppendExternalPorts, "onAppended">;

/**
 * Cancels a run. If the run is in a thread, ends its turn, so that the next run of the thread starts. Throws a Failure of kind
 * `not_found` if the run does not exist, and `precondition` if it has ended without a cancellation.
 */
export async function cancelRun(
  ports: CancelPorts,
  { tenant, subject }: Principal,
  { runId, reason }: { readonly runId: string; readonly reason: string },
  signal: AbortSignal,
): Promise<RunHead> {
  const key = runKeyOf(tenant, runId);
  const by = { requestedBy: subject, reason };
  const head = await cancelRunOf(ports, key, by, signal).catch(async (error: unknown) => {
    // The run may be cancelled in spite of the error, and the next run of the thread waits for its turn.
    await endTurnIfCancelled(ports, key, signal).catch(() => undefined);
    throw error;
  });
  if (head.created === undefined) throw runNotFound(runId);
  if (head.status !== RunStatus.CANCELLED) throw runHasEnded(key, head);
  await endTurnOf(ports, key, head, signal);
  return head;
}

async function endTurnIfCancelled(
  ports: CancelPorts,
  key: RunKey,
  signal: AbortSignal,
): Promise<void> {
  const head = await readRun(ports.log, key, signal);
  if (head.status === RunStatus.CANCELLED) await endTurnOf(ports, key, head, signal);
}

async function endTurnOf(
  ports: CancelPorts,
  { tenant, run }: RunKey,
  { created }: RunHead,
  signal: AbortSignal,
): Promise<void> {
  const thread = created?.threadId ?? "";
  if (thread === "") return;
  await endTurn(ports, { tenant, thread }, run, signal).catch((error: unknown) => {
    // The run is cancelled already, and a sweep ends its turn: of a newer version, or when the store has room.
    if (!(error instanceof Failure) || !later.has(error.reason)) throw error;
  });
}

const later: ReadonlySet<ErrorReason> = new Set([
  ErrorReason.NEWER_VERSION,
  ErrorReason.STORAGE_FULL,
]);
