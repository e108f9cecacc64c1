import type { Logger as PinoLogger } from "pino";
import { trace } from "@opentelemetry/api";
import { destination, pino } from "pino";

/** A structured logger: one event, one line, a constant message and fields. */
export type Logger = PinoLogger;

/** Fields that must never be written, wherever a careless caller puts them. */
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

/** Where a line was written, for whoever reads it beside a trace. */
function place(): Record<string, string> {
  const span = trace.getActiveSpan()?.spanContext();
  return span === undefined ? {} : { trace_id: span.traceId, span_id: span.spanId };
}

/**
 * Logs to stderr as JSON, so that stdout belongs to the program. `level` is one of pino's, or `silent`. A line that is
 * written in a span names it.
 */
export function createLogger(service: string, level: string): Logger {
  return pino(
    { level, base: { service }, mixin: place, redact: { paths: secrets, censor: "[secret]" } },
    destination({ fd: 2, sync: true }),
  );
}
