import type { Thread } from "@reeve/contracts/thread";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { repairThread } from "@reeve/run/thread/repair-thread";
import type { GatewayPorts } from "../gateway-ports.ts";
import { runTogether } from "@reeve/platform/async/run-together";

type Ports = Pick<GatewayPorts, "threads" | "threadIndex" | "log" | "journal" | "dispatch">;

export interface RepairClock {
  now(): number;
  sleep(delayMs: number, signal: AbortSignal): Promise<void>;
}

/** Interval between rounds, and the time after a change of a thread during which its writer may finish. */
const roundMs = 15_000;
/** Maximum interval between repairs of a thread. */
const maxDelayMs = 300_000;

interface OpenThread {
  readonly threadId: string;
  readonly tenant: string;
  readonly dueMs: number;
  readonly delayMs: number;
}

/**
 * Repairs threads until `signal` aborts: completes what other processes began and did not finish, such as a run that has a
 * turn and no log, or an ended run whose turn is open. Repairs every thread that has open turns, after each of its changes
 * and then at increasing intervals. Several gateways may repair concurrently.
 */
export async function repairThreads(
  ports: Ports,
  clock: RepairClock,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const open = new Map<string, OpenThread>();
  const watch = async (until: AbortSignal) => {
    for await (const change of ports.threadIndex.watch("", until)) {
      if (change.kind === "deleted") open.delete(change.key);
      if (change.kind === "written") note(open, change.row.key, change.row.record, clock.now());
    }
  };
  const repairDue = async (until: AbortSignal) => {
    for (;;) {
      await clock.sleep(roundMs, until);
      const now = clock.now();
      for (const [key, thread] of open) {
        if (thread.dueMs > now) continue;
        const delayMs = Math.min(thread.delayMs * 2, maxDelayMs);
        open.set(key, { ...thread, delayMs, dueMs: now + delayMs });
        await repair(ports, thread, log, until);
      }
    }
  };
  await runTogether([watch, repairDue], signal);
}

function note(open: Map<string, OpenThread>, key: string, thread: Thread, nowMs: number): void {
  const [tenant = ""] = key.split(".", 1);
  const { threadId, unsettled } = thread;
  if (!unsettled) open.delete(key);
  else open.set(key, { threadId, tenant, dueMs: nowMs + roundMs, delayMs: roundMs });
}

async function repair(
  ports: Ports,
  { tenant, threadId }: OpenThread,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  try {
    await repairThread(ports, { tenant, thread: threadId }, signal);
  } catch (error) {
    signal.throwIfAborted();
    log.warn({ err: error, tenant, threadId }, "thread was not repaired; trying again later");
  }
}
