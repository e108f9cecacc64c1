import type { Logger as PinoLogger } from "pino";
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

/** Logs to stderr as JSON, so that stdout belongs to the program. `level` is one of pino's, or `silent`. */
export function createLogger(service: string, level: string): Logger {
  return pino(
    { level, base: { service }, redact: { paths: secrets, censor: "[secret]" } },
    destination({ fd: 2, sync: true }),
  );
}
