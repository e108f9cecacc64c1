import type { NatsConnection } from "@nats-io/transport-node";
import type { ThreadEvent } from "@reeve/contracts/thread";
import { threadLogDefinition } from "./definitions.ts";
import type { TailReader } from "./port.ts";
import type { NatsLogOptions } from "./nats.ts";
import { NatsLog } from "./nats.ts";
import type { ThreadKey, ThreadLog } from "./thread-log.ts";

/** The logs of threads in JetStream. */
export function openThreadLog(
  { connection }: { readonly connection: NatsConnection },
  options: NatsLogOptions = {},
): Promise<ThreadLog & TailReader<ThreadKey, ThreadEvent>> {
  return NatsLog.open(connection, threadLogDefinition, options);
}
