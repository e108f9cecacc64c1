import process from "node:process";
import type { Logger as PinoLogger } from "pino";
import { trace } from "@opentelemetry/api";
import { destination, pino, stdTimeFunctions } from "pino";
import { readableLine } from "./log-line.ts";
import { processRedaction } from "./redaction/redaction.ts";

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
 * Creates a logger that writes to stderr; stdout is left to the program. A line is JSON with the name of its level and the
 * time in ISO 8601, or text for a person where stderr is a terminal. `level` is one of pino's, or `silent`. A line that is
 * logged inside a span has the span's ids. No line contains a secret that `processRedaction` recognizes.
 */
export function createLogger(
  service: string,
  level: string,
  stream: LogStream = openStream(),
): Logger {
  return pino(
    {
      level,
      base: { service },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      mixin: spanIds,
      redact: { paths: secrets, censor: "[secret]" },
    },
    { write: (line: string) => stream.write(processRedaction.text(line)) },
  );
}

/** Where lines are written, one per call. */
interface LogStream {
  write(line: string): void;
}

function openStream(): LogStream {
  const stderr = destination({ fd: 2, sync: true });
  return process.stderr.isTTY ? { write: (line) => stderr.write(readableLine(line)) } : stderr;
}
