import { ErrorReason } from "@reeve/contracts/error";
import { isTerminal } from "@reeve/run/head/run-status";
import { Failure } from "@reeve/platform/failure";
import type { Principal } from "@reeve/platform/rpc/principal";
import { cancelRun } from "../cancel-run.ts";
import type { GatewayPorts } from "../gateway-ports.ts";
import { readRun, runKeyOf } from "../read-run.ts";

/** Counts the streams that watch each run through this gateway. */
export class Watchers {
  readonly #counts = new Map<string, number>();

  enter({ tenant }: Principal, runId: string): void {
    const key = `${tenant}.${runId}`;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  /** Removes a watcher. Returns whether no other stream through this gateway watches the run. */
  leave({ tenant }: Principal, runId: string): boolean {
    const key = `${tenant}.${runId}`;
    const left = (this.#counts.get(key) ?? 1) - 1;
    if (left > 0) this.#counts.set(key, left);
    else this.#counts.delete(key);
    return left <= 0;
  }
}

/** Cancels a run that was started with `cancel_on_disconnect`. Does nothing for any other run, or one that has ended. */
export async function cancelUnwatched(
  ports: GatewayPorts,
  principal: Principal,
  runId: string,
  signal: AbortSignal,
): Promise<void> {
  const head = await readRun(ports.log, runKeyOf(principal.tenant, runId), signal);
  if (head.created?.cancelOnDisconnect !== true || isTerminal(head.status)) return;
  try {
    await cancelRun(ports, principal, { runId, reason: "its last watcher disconnected" }, signal);
  } catch (error) {
    if (!(error instanceof Failure) || error.reason !== ErrorReason.RUN_ENDED) throw error;
  }
}
