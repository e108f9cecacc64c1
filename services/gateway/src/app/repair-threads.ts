import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Thread } from "@reeve/contracts/thread";
import type { Logger } from "@reeve/platform/logger";
import { settleThread } from "@reeve/thread/settle-thread";
import type { GatewayPorts } from "./gateway-ports.ts";

type Ports = Pick<GatewayPorts, "threads" | "threadIndex" | "log" | "dispatch">;

/** How long whoever began something in a thread has the time to finish it. */
const graceMs = 5_000;
const pauseMs = 15_000;

/**
 * Finishes, now and then until `signal` aborts, what others have begun in threads and left: a gateway that died between
 * the place of a run in its thread and the run itself. Several gateways may do so at once.
 */
export async function repairThreads(
  ports: Ports,
  clock: {
    now(): number;
    sleep(delayMs: number, signal: AbortSignal): Promise<void>;
  },
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    await clock.sleep(pauseMs, signal);
    const rows = await ports.threadIndex.list("", signal);
    for (const { key, record } of rows) {
      if (!isNeglected(record, clock.now())) continue;
      const [tenant = ""] = key.split(".", 1);
      const { threadId } = record;
      await settleThread(ports, { tenant, thread: threadId }, signal);
      log.info({ tenant, threadId }, "thread repaired");
    }
  }
}

function isNeglected({ unsettled, updatedAt }: Thread, nowMs: number): boolean {
  const ageMs = nowMs - (updatedAt === undefined ? 0 : timestampMs(updatedAt));
  return unsettled && ageMs > graceMs;
}
