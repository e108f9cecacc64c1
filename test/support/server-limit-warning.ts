import { warnOfServerLimit } from "@reeve/jetstream/streams/warn-of-server-limit";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { createLogger } from "@reeve/platform/telemetry/logger";

/** Returns what is logged about the limit of a store with so many replicas; empty if nothing is. */
export async function serverLimitWarning({ connection }: Nats, replicas: number): Promise<string> {
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  await warnOfServerLimit(connection, replicas, createLogger("test", "warn", { write }));
  return lines.join("");
}
