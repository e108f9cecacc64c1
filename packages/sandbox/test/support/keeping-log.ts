import type { Logger } from "@reeve/platform/telemetry/logger";
import { pino } from "pino";

/** A line of a log, with whatever fields it has. */
export type Logged = Readonly<Record<string, unknown>> & { readonly msg: string };

/** A log that keeps what it is told. */
export function keepingLog(): { readonly log: Logger; readonly logged: readonly Logged[] } {
  const logged: Logged[] = [];
  const write = (line: string) => void logged.push(JSON.parse(line) as Logged);
  return { log: pino({ level: "info" }, { write }), logged };
}
