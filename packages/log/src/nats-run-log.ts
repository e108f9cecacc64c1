import type { NatsConnection } from "@nats-io/transport-node";
import { runLogDefinition } from "./definitions.ts";
import type { NatsLogOptions } from "./nats-log.ts";
import { NatsLog } from "./nats-log.ts";
import type { RunLog, RunLogEnds } from "./run-log.ts";

/** The logs of runs in JetStream. */
export function openRunLog(
  { connection }: { readonly connection: NatsConnection },
  options: NatsLogOptions = {},
): Promise<RunLog & RunLogEnds> {
  return NatsLog.open(connection, runLogDefinition, options);
}
