import type { Logger } from "@reeve/platform/telemetry/logger";
import type { TemporalLogger, TemporalSdk } from "./sdk.ts";

let isInstalled = false;

/** Prepares the native part of the packages of Temporal, which a process has once: the log of the first call gets what it says. */
export function installRuntime({ worker: { Runtime } }: TemporalSdk, log: Logger): void {
  if (isInstalled) return;
  isInstalled = true;
  Runtime.install({
    logger: loggerFor(log),
    telemetryOptions: { logging: { forward: {}, filter: { core: "WARN", other: "ERROR" } } },
    // The service decides when it drains.
    shutdownSignals: [],
  });
}

/** What Temporal logs about tasks that failed is repeated by Temporal, and is shown to operators there. */
function loggerFor(log: Logger): TemporalLogger {
  const debug = (message: string) =>
    log.debug({ temporal: message }, "the SDK of Temporal reports");
  const warn = (message: string) => log.warn({ temporal: message }, "the SDK of Temporal reports");
  return {
    log: (level, message) => (level === "WARN" || level === "ERROR" ? warn : debug)(message),
    trace: debug,
    debug,
    info: debug,
    warn,
    error: warn,
  };
}
