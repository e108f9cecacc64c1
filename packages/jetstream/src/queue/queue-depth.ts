import { jetstreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { channelOf } from "@reeve/contracts/channel";
import { ToolCallRequestSchema } from "@reeve/contracts/tool";

/** Timeout for the store: a metrics scrape waits only briefly. */
const timeoutMs = 1_000;

/**
 * Returns how many calls wait in the queue of a pool or are held by its hosts, without the calls that were forwarded to single
 * hosts. Autoscalers use this number. Rejects when the store does not answer.
 */
export async function toolQueueDepth(
  { connection }: { readonly connection: NatsConnection },
  pool: string,
): Promise<number> {
  const { stream } = channelOf(ToolCallRequestSchema);
  const manager = await jetstreamManager(connection, { checkAPI: false, timeout: timeoutMs });
  const info = await manager.consumers.info(stream?.name ?? "", pool);
  return info.num_pending + info.num_ack_pending;
}
