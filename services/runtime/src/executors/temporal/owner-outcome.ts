import type { RunKey } from "@reeve/jetstream/log/run-log";
import { emptyTail } from "@reeve/jetstream/log/port";
import { isTenantKeyDeleted } from "@reeve/jetstream/sealing/key-failures";
import type { Ownership } from "@reeve/run/head/ownership";
import {
  foldOwnership,
  isParked,
  isWakeDue,
  noOwnership,
  parkedOwnership,
} from "@reeve/run/head/ownership";
import { foldRun } from "@reeve/run/commands/fold-run";
import { wakeRun } from "@reeve/run/commands/wake-run";
import type { RuntimePorts } from "../port.ts";
import type { OwnerExit } from "./contract.ts";

interface OutcomePorts extends Pick<RuntimePorts, "log" | "logEnds"> {
  readonly dispatch: Pick<RuntimePorts["dispatch"], "publish">;
  readonly clock: Pick<RuntimePorts["clock"], "now">;
}

/** Interval between checks of a run whose time to wake has come, until its dispatch arrives. */
const repeatMs = 30_000;

/**
 * Returns how an owner that has settled its run has left it, by the end of the log. Dispatches a run whose time to wake has come, as
 * gateways do: the dispatch returns through Temporal.
 */
export async function outcomeOf(
  ports: OutcomePorts,
  key: RunKey,
  signal: AbortSignal,
): Promise<OwnerExit> {
  const owned = await ownershipOf(ports, key, signal);
  if (owned === undefined) return { kind: "ended" };
  if (!owned.isCreated || owned.endSequence !== undefined) return { kind: "ended" };
  if (!isParked(owned)) return { kind: "elsewhere" };
  const { wakeAtMs } = owned;
  if (wakeAtMs === undefined) return { kind: "parked" };
  const nowMs = ports.clock.now();
  if (!isWakeDue(owned, nowMs)) return { kind: "parked", checkMs: wakeAtMs - nowMs };
  const head = await foldRun((await ports.log.read(key, emptyTail, signal)).events, signal);
  await wakeRun(ports, key, head, { nowMs, signal });
  return { kind: "parked", checkMs: repeatMs };
}

/** Returns who owns a run. Undefined: the log can never be read again, because the key of its tenant was deleted. */
export async function ownershipOf(
  { log, logEnds }: Pick<RuntimePorts, "log" | "logEnds">,
  key: RunKey,
  signal: AbortSignal,
): Promise<Ownership | undefined> {
  try {
    const parked = parkedOwnership((await logEnds.last(key, signal)).events);
    if (parked !== undefined) return parked;
    return foldOwnership(noOwnership, (await log.read(key, emptyTail, signal)).events);
  } catch (error) {
    if (isTenantKeyDeleted(error)) return undefined;
    throw error;
  }
}
