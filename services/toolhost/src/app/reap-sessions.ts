import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "@reeve/platform/logger";
import type { SandboxDriver } from "../ports/sandbox.ts";

/** Takes away what toolhosts have left that are gone, now and every `intervalMs`, until `signal` aborts. */
export async function reapSessions(
  driver: Pick<SandboxDriver, "list" | "destroy">,
  intervalMs: number,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    for (const { sessionId, isOrphan } of await driver.list(signal)) {
      if (!isOrphan) continue;
      await driver.destroy(sessionId, signal);
      log.info({ sessionId }, "sandbox of a lost toolhost taken away");
    }
    await wait(intervalMs, undefined, { signal }).catch(() => undefined);
  }
}
