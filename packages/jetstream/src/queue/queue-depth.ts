import { jetstreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { channelOf } from "@reeve/contracts/channel";
import { ToolCallRequestSchema } from "@reeve/contracts/tool";

/** How long the store may take: whoever collects metrics does not wait for long. */
const answerMs = 1_000;

/**
 * How many calls wait in the queue of a pool or are in the hands of its hosts, without those that were sent on to single
 * hosts: what autoscalers see. Rejects when the store does not answer.
 */
export async function toolQueueDepth(
  { connection }: { readonly connection: NatsConnection },
  pool: string,
): Promise<number> {
  const { stream } = channelOf(ToolCallRequestSchema);
  const manager = await jetstreamManager(connection, { checkAPI: false, timeout: answerMs });
  const info = await manager.consumers.info(stream?.name ?? "", pool);
  return info.num_pending + info.num_ack_pending;
}
