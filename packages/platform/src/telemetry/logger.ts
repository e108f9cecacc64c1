import type { Logger as PinoLogger } from "pino";
import { trace } from "@opentelemetry/api";
import { destination, pino } from "pino";

/** A structured logger: one line per event, with a constant message and fields. */
export type Logger = PinoLogger;

/** Fields that are never logged, even if a caller passes them. */
const secrets = [
  "token",
  "*.token",
  "authorization",
  "*.authorization",
  "headers.authorization",
  "apiKey",
  "*.apiKey",
  "password",
  "*.password",
];

/** Returns the ids of the active span, to correlate a line with its trace. */
function spanIds(): Record<string, string> {
  const span = trace.getActiveSpan()?.spanContext();
  return span === undefined ? {} : { trace_id: span.traceId, span_id: span.spanId };
}

/**
 * Creates a logger that writes JSON to stderr; stdout is left to the program. `level` is one of pino's, or `silent`. A line
 * that is logged inside a span has the span's ids.
 */
export function createLogger(service: string, level: string): Logger {
  return pino(
    { level, base: { service }, mixin: spanIds, redact: { paths: secrets, censor: "[secret]" } },
    destination({ fd: 2, sync: true }),
  );
}
