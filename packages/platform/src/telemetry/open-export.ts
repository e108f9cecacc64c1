import { randomUUID } from "node:crypto";
import { context, diag, DiagLogLevel, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from "@opentelemetry/resources";
import type { Sampler } from "@opentelemetry/sdk-trace";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { Logger } from "./logger.ts";
import { RedactingProcessor } from "./redaction/redacting-processor.ts";
import { traceContent } from "./span-content.ts";
import type { TracingSettings } from "./tracing-settings.ts";

/** The minimum interval between warnings about lost spans. */
const diagnosticsIntervalMs = 60_000;

/** Sets up the global tracer of this process, with an OTLP exporter. */
export function openExport(
  service: string,
  settings: TracingSettings,
  log: Logger,
): { shutdown(): Promise<void> } {
  logDiagnostics(log);
  traceContent(settings.REEVE_TRACE_CONTENT);
  const fromEnvironment = detectResources({ detectors: [envDetector] });
  const processor = new RedactingProcessor({
    exporter: new OTLPTraceExporter(),
    scheduledDelayMillis: settings.OTEL_BSP_SCHEDULE_DELAY,
    exportTimeoutMillis: settings.OTEL_BSP_EXPORT_TIMEOUT,
    maxQueueSize: settings.OTEL_BSP_MAX_QUEUE_SIZE,
    maxExportBatchSize: settings.OTEL_BSP_MAX_EXPORT_BATCH_SIZE,
  });
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(
        resourceFromAttributes({
          "service.name": service,
          "service.namespace": "reeve",
          "service.instance.id": randomUUID(),
        }),
      )
      .merge(fromEnvironment),
    sampler: samplerOf(settings),
    spanLimits: { attributeValueLengthLimit: settings.OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT },
    spanProcessors: [processor],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
  trace.setGlobalTracerProvider(provider);
  return provider;
}

function samplerOf(settings: TracingSettings): Sampler {
  const { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio } = settings;
  switch (name) {
    case "always_on":
      return new AlwaysOnSampler();
    case "always_off":
      return new AlwaysOffSampler();
    case "traceidratio":
      return new TraceIdRatioBasedSampler(ratio);
    case "parentbased_always_on":
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
    case "parentbased_always_off":
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case "parentbased_traceidratio":
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) });
  }
}

const quiet = () => undefined;

/** Logs the errors and warnings of the OpenTelemetry SDK, at most once a minute. */
function logDiagnostics(log: Logger): void {
  let quietUntil = 0;
  const warn = (...parts: readonly unknown[]) => {
    if (performance.now() < quietUntil) return;
    quietUntil = performance.now() + diagnosticsIntervalMs;
    const problem = parts.map(String).join(" ").slice(0, 300);
    log.warn({ problem }, "spans were not exported; check the OTLP endpoint");
  };
  const logger = { error: warn, warn, info: quiet, debug: quiet, verbose: quiet };
  diag.setLogger(logger, DiagLogLevel.WARN);
}
