import type { Logger } from "./logger.ts";
import { neverAborts } from "../async/never-aborts.ts";
import { settledWithin } from "../async/settled-within.ts";
import type { TracingSettings } from "./tracing-settings.ts";
import { isTracingEnabled } from "./tracing-settings.ts";

/** The time that the last spans of a process have to be exported. */
const shutdownMs = 2_000;

/**
 * Starts to export the spans of this process if the settings enable it; otherwise the exporter is not even loaded. A slow or
 * unreachable collector delays nothing: spans wait in a bounded queue, and are dropped when it is full. Disposing exports the
 * remaining spans, for at most two seconds.
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
    log.warn(
      "spans contain prompts, answers, arguments, and results; restrict access to the traces",
    );
  }
  return {
    async [Symbol.asyncDispose]() {
      await settledWithin(exported.shutdown(), shutdownMs, neverAborts).catch(() => undefined);
    },
  };
}
