import type { AgendaEntry } from "@reeve/jetstream/local-index/agenda";
import { isTenantKeyDeleted } from "@reeve/jetstream/sealing/key-failures";
import type { Clock } from "@reeve/platform/async/clock";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { repairThread } from "@reeve/run/thread/repair-thread";
import type { GatewayPorts } from "../gateway-ports.ts";
import { sweepDue } from "./sweep-due.ts";

type Ports = Pick<GatewayPorts, "threads" | "log" | "journal" | "dispatch"> & {
  readonly threadLists: Pick<GatewayPorts["threadLists"], "agenda">;
  readonly shards: Pick<GatewayPorts["presence"], "owned">;
};

/** Interval between rounds. */
const roundMs = 15_000;
/** Maximum interval between repairs of a thread. */
const maxDelayMs = 300_000;

/**
 * Repairs the threads of its shards until `signal` aborts: completes what other processes began and did not finish, such as a
 * run that has a turn and no log, or an ended run whose turn is open. Repairs every thread that has open turns, after each of its
 * changes and then at increasing intervals. Several gateways may repair a thread concurrently.
 */
export async function repairThreads(
  ports: Ports,
  clock: Pick<Clock, "sleep">,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const { threadLists: lists, shards } = ports;
  const sweep = async (entry: AgendaEntry) => {
    const isLost = await repair(ports, entry, log, signal);
    if (isLost) lists.agenda?.remove(entry.key);
    else lists.agenda?.postpone(entry, Math.min(entry.delayMs * 2, maxDelayMs), "");
  };
  await sweepDue({ lists, shards, roundMs }, clock, sweep, signal);
}

/** Returns whether nobody can read the thread any more. */
async function repair(
  ports: Ports,
  { key }: AgendaEntry,
  log: Logger,
  signal: AbortSignal,
): Promise<boolean> {
  const [tenant = "", thread = ""] = key.split(".");
  try {
    await repairThread(ports, { tenant, thread }, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (isTenantKeyDeleted(error)) return true;
    log.warn(
      { err: error, tenant, threadId: thread },
      "thread was not repaired; trying again later",
    );
  }
  return false;
}
