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

/** How often it is seen to what is due; also the time that whoever changed a thread has to finish. */
const pauseMs = 15_000;
/** A thread that rests is looked at ever more seldom, down to this. */
const longestMs = 300_000;

interface Open {
  readonly threadId: string;
  readonly tenant: string;
  readonly dueMs: number;
  readonly delayMs: number;
}

/**
 * Finishes, until `signal` aborts, what others have begun in threads and left: a gateway that died between the place of a
 * run in its thread and the run itself, or a run that has ended and still has its turn. Looks at every thread in which a
 * run is under way or waits, after each of its changes and then ever more seldom. Several gateways may do so at once.
 */
export async function repairThreads(
  ports: Ports,
  clock: RepairClock,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const open = new Map<string, Open>();
  const watch = async (until: AbortSignal) => {
    for await (const change of ports.threadIndex.watch("", until)) {
      if (change.kind === "deleted") open.delete(change.key);
      if (change.kind === "written") note(open, change.row.key, change.row.record, clock.now());
    }
  };
  const repairDue = async (until: AbortSignal) => {
    for (;;) {
      await clock.sleep(pauseMs, until);
      const now = clock.now();
      for (const [key, thread] of open) {
        if (thread.dueMs > now) continue;
        const delayMs = Math.min(thread.delayMs * 2, longestMs);
        open.set(key, { ...thread, delayMs, dueMs: now + delayMs });
        await repair(ports, thread, log, until);
      }
    }
  };
  await runTogether([watch, repairDue], signal);
}

function note(open: Map<string, Open>, key: string, thread: Thread, nowMs: number): void {
  const [tenant = ""] = key.split(".", 1);
  const { threadId, unsettled } = thread;
  if (!unsettled) open.delete(key);
  else open.set(key, { threadId, tenant, dueMs: nowMs + pauseMs, delayMs: pauseMs });
}

async function repair(
  ports: Ports,
  { tenant, threadId }: Open,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  try {
    await repairThread(ports, { tenant, thread: threadId }, signal);
  } catch (error) {
    signal.throwIfAborted();
    log.warn({ err: error, tenant, threadId }, "thread could not be repaired; trying again later");
  }
}
