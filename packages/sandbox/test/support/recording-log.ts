import type { Logger } from "@reeve/platform/telemetry/logger";
import { pino } from "pino";

/** A line of a log, with all its fields. */
export type LogLine = Readonly<Record<string, unknown>> & { readonly msg: string };

/** Creates a log that records its lines. */
export function recordingLog(): { readonly log: Logger; readonly logged: readonly LogLine[] } {
  const logged: LogLine[] = [];
  const write = (line: string) => void logged.push(JSON.parse(line) as LogLine);
  return { log: pino({ level: "info" }, { write }), logged };
}
