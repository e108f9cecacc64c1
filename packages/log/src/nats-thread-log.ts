import type { NatsConnection } from "@nats-io/transport-node";
import { threadLogDefinition } from "./definitions.ts";
import type { NatsLogOptions } from "./nats-log.ts";
import { NatsLog } from "./nats-log.ts";
import type { ThreadLog } from "./thread-log.ts";

/** The logs of threads in JetStream. */
export function openThreadLog(
  { connection }: { readonly connection: NatsConnection },
  options: NatsLogOptions = {},
): Promise<ThreadLog> {
  return NatsLog.open(connection, threadLogDefinition, options);
}
