import type { NatsConnection } from "@nats-io/transport-node";
import { runLogDefinition } from "./definitions.ts";
import type { NatsLogOptions } from "./nats.ts";
import { NatsLog } from "./nats.ts";
import type { RunLog, RunTailReader } from "./run-log.ts";

/** The logs of runs in JetStream. */
export function openRunLog(
  { connection }: { readonly connection: NatsConnection },
  options: NatsLogOptions = {},
): Promise<RunLog & RunTailReader> {
  return NatsLog.open(connection, runLogDefinition, options);
}
