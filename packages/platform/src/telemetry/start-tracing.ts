import type { Logger } from "./logger.ts";
import { sleep } from "../async/sleep.ts";
import type { TracingSettings } from "./tracing-settings.ts";
import { isTracingEnabled } from "./tracing-settings.ts";

/** How long the last spans of a process may take to be exported. */
const shutdownMs = 2_000;

/**
 * Exports the spans of this process from here on, where the settings ask for it; what exports is not even loaded where they
 * do not. An exporter that is away or slow holds up nothing: spans wait in a queue of bounded length, and what it cannot
 * hold is dropped. Disposing of it exports what is left, for two seconds at the most.
 */
export async function startTracing(
  service: string,
  settings: TracingSettings,
  log: Logger,
): Promise<AsyncDisposable> {
  if (!isTracingEnabled(settings)) return { [Symbol.asyncDispose]: () => Promise.resolve() };
  const { openExport } = await import("./open-export.ts");
  const exported = openExport(service, settings, log);
  log.info({ sampler: settings.OTEL_TRACES_SAMPLER }, "spans are exported");
  if (settings.REEVE_TRACE_CONTENT) {
    log.warn("spans hold prompts, answers, arguments and results: whoever sees them sees those");
  }
  return {
    async [Symbol.asyncDispose]() {
      const enough = new AbortController();
      const ended = exported.shutdown().catch(() => undefined);
      await Promise.race([ended, sleep(shutdownMs, enough.signal).catch(() => undefined)]);
      enough.abort();
    },
  };
}
