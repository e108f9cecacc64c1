import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { SandboxDriver } from "../port.ts";

type Reaped = Pick<SandboxDriver, "list" | "destroy">;

/**
 * Takes away what toolhosts have left that are gone, now and every `intervalMs`, until `signal` aborts. One that cannot be
 * taken away keeps none of the others, and is tried again with them.
 */
export async function sweepSessions(
  driver: Reaped,
  intervalMs: number,
  log: Pick<Logger, "info" | "warn">,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    for (const sessionId of await orphans(driver, log, signal)) {
      try {
        await driver.destroy(sessionId, signal);
        log.info({ sessionId }, "sandbox of a lost toolhost taken away");
      } catch (error) {
        if (signal.aborted) return;
        log.warn({ err: error, sessionId }, "sandbox of a lost toolhost not taken away");
      }
    }
    await wait(intervalMs, undefined, { signal }).catch(() => undefined);
  }
}

async function orphans(
  driver: Reaped,
  log: Pick<Logger, "warn">,
  signal: AbortSignal,
): Promise<readonly string[]> {
  try {
    const records = await driver.list(signal);
    return records.filter(({ isOrphan }) => isOrphan).map(({ sessionId }) => sessionId);
  } catch (error) {
    if (!signal.aborted) log.warn({ err: error }, "sandboxes cannot be listed");
    return [];
  }
}
