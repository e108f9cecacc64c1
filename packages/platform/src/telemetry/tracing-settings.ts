import { z } from "zod";

const flag = z
  .enum(["true", "false", "1", "0"])
  .default("false")
  .transform((text) => text === "true" || text === "1");

const protocol = z
  .literal("http/protobuf", { error: "only http/protobuf is supported" })
  .optional();

/** A number that is at least 1. */
const count = (defaultCount: number) =>
  z.coerce.number().int().min(1).max(1_000_000).default(defaultCount);

/**
 * The settings of tracing: the standard variables of OpenTelemetry. Tracing is off unless an exporter or an endpoint is set.
 * The exporter itself reads the variables for headers, timeouts, compression, and certificates; they are listed here as
 * permitted settings of a service.
 */
export const tracingSettings = {
  OTEL_SDK_DISABLED: flag,
  OTEL_TRACES_EXPORTER: z.enum(["otlp", "none"]).optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url().optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z.url().optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: protocol,
  OTEL_EXPORTER_OTLP_HEADERS: z.string().optional(),
  OTEL_EXPORTER_OTLP_TIMEOUT: z.coerce.number().min(1).optional(),
  OTEL_EXPORTER_OTLP_COMPRESSION: z.enum(["gzip", "none"]).optional(),
  OTEL_EXPORTER_OTLP_CERTIFICATE: z.string().optional(),
  OTEL_SERVICE_NAME: z.string().optional(),
  OTEL_RESOURCE_ATTRIBUTES: z.string().optional(),
  OTEL_TRACES_SAMPLER: z
    .enum([
      "always_on",
      "always_off",
      "traceidratio",
      "parentbased_always_on",
      "parentbased_always_off",
      "parentbased_traceidratio",
    ])
    .default("parentbased_always_on"),
  /** The ratio of traces that are sampled, for the ratio samplers. */
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1),
  OTEL_BSP_SCHEDULE_DELAY: count(5_000),
  OTEL_BSP_EXPORT_TIMEOUT: count(30_000),
  OTEL_BSP_MAX_QUEUE_SIZE: count(2_048),
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: count(512),
  /** The maximum length of an attribute, in characters. */
  OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT: count(8_192),
  /** Whether spans contain prompts, answers, arguments, and results. */
  REEVE_TRACE_CONTENT: flag,
};

const schema = z.object(tracingSettings);
export type TracingSettings = z.infer<typeof schema>;

/** Whether the settings enable the export of spans. */
export function isTracingEnabled(settings: TracingSettings): boolean {
  if (settings.OTEL_SDK_DISABLED) return false;
  if (settings.OTEL_TRACES_EXPORTER !== undefined) return settings.OTEL_TRACES_EXPORTER === "otlp";
  const { OTEL_EXPORTER_OTLP_ENDPOINT: any, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: traces } = settings;
  return any !== undefined || traces !== undefined;
}
