import { sleep } from "@reeve/platform/async/sleep";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { SandboxDriver } from "../port.ts";

type SweptDriver = Pick<SandboxDriver, "list" | "destroy">;

/**
 * Destroys the sandboxes of dead toolhosts, at once and every `intervalMs`, until `signal` aborts. A sandbox that cannot be
 * destroyed does not hold up the others; the next sweep tries it again.
 */
export async function sweepSessions(
  driver: SweptDriver,
  intervalMs: number,
  log: Pick<Logger, "info" | "warn">,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    for (const sessionId of await orphans(driver, log, signal)) {
      try {
        await driver.destroy(sessionId, signal);
        log.info({ sessionId }, "destroyed a sandbox of a dead toolhost");
      } catch (error) {
        if (signal.aborted) return;
        log.warn(
          { err: error, sessionId },
          "cannot destroy a sandbox of a dead toolhost; the next sweep retries",
        );
      }
    }
    await sleep(intervalMs, signal).catch(() => undefined);
  }
}

async function orphans(
  driver: SweptDriver,
  log: Pick<Logger, "warn">,
  signal: AbortSignal,
): Promise<readonly string[]> {
  try {
    const records = await driver.list(signal);
    return records.filter(({ isOrphan }) => isOrphan).map(({ sessionId }) => sessionId);
  } catch (error) {
    if (!signal.aborted) log.warn({ err: error }, "cannot list sandboxes; the next sweep retries");
    return [];
  }
}
