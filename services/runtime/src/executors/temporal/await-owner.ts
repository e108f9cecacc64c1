import type { RunKey } from "@reeve/jetstream/log/run-log";
import { sleep } from "@reeve/platform/async/sleep";
import { isParked } from "@reeve/run/head/ownership";
import type { RuntimePorts } from "../port.ts";
import { ownershipOf } from "./owner-outcome.ts";

/** What is needed to find the owner of a run. */
export type OwnerPorts = Pick<RuntimePorts, "log" | "logEnds" | "ownerFate" | "worker">;

/** Interval at which an owner is probed that may be alive. */
const probeMs = 500;
/** The time between the two probes that prove a death: a worker whose connection broke is back after one. */
const confirmMs = 250;

/**
 * Resolves when this worker may claim a run from an owner that sent no heartbeats: as soon as the owner is proven dead. One that stays
 * connected to NATS, and is therefore alive, cut off from Temporal, or standing still, keeps the run until it has written nothing to its log
 * for `graceMs`.
 */
export async function awaitSilentOwner(
  ports: OwnerPorts,
  key: RunKey,
  graceMs: number,
  signal: AbortSignal,
): Promise<void> {
  if (graceMs <= 0) return;
  let sequence = 0;
  for (;;) {
    const owned = await ownershipOf(ports, key, signal);
    if (owned?.claim === undefined || owned.endSequence !== undefined || isParked(owned)) return;
    const { worker } = owned.claim;
    if (worker === ports.worker || owned.lastSequence === sequence) return;
    sequence = owned.lastSequence;
    if (!(await staysAlive(ports, worker, graceMs, signal))) return;
  }
}

/** Returns whether a worker stays connected to NATS for `durationMs`: false as soon as it is proven dead. */
async function staysAlive(
  { ownerFate }: Pick<OwnerPorts, "ownerFate">,
  worker: string,
  durationMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const endMs = performance.now() + durationMs;
  let isSuspect = false;
  for (;;) {
    const fate = await ownerFate(worker, signal);
    // One that ended in order does not come back.
    if (fate === "ended" || (fate === "crashed" && isSuspect)) return false;
    isSuspect = fate === "crashed";
    const leftMs = endMs - performance.now();
    if (leftMs <= 0) return !isSuspect;
    await sleep(Math.min(isSuspect ? confirmMs : probeMs, leftMs), signal);
  }
}
