import type { NatsConnection } from "@nats-io/transport-node";
import { channelOf } from "@reeve/contracts/channel";
import { messagesWithChannel } from "@reeve/contracts/declared";
import { openDispatchQueue, openToolCallQueue } from "../queue/nats.ts";
import { ensureStream, openManager } from "./ensure-stream.ts";

/**
 * Makes every stream that the contracts declare, and the durable consumers of the queues: of runs, and of the calls for
 * each of `pools`. Their deliveries go to another after a silence of `ackWaitMs`, until a service that takes them is started
 * with another. What is there already is left as it is. Returns the names of the streams.
 */
export async function provisionStreams(
  nats: { readonly connection: NatsConnection },
  { pools, ackWaitMs }: { readonly pools: readonly string[]; readonly ackWaitMs: number },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const manager = await openManager(nats.connection);
  const names = new Set<string>();
  for (const message of messagesWithChannel) {
    signal.throwIfAborted();
    const channel = channelOf(message);
    if (channel.stream !== undefined) names.add(await ensureStream(manager, channel));
  }
  await openDispatchQueue(nats, { ackWaitMs });
  for (const pool of pools) await openToolCallQueue(nats, { pool, ackWaitMs });
  return [...names];
}

/** Has each of `streams` kept by so many servers. Throws when there are not as many. */
export async function setReplicas(
  { connection }: { readonly connection: NatsConnection },
  streams: readonly string[],
  replicas: number,
  signal: AbortSignal,
): Promise<void> {
  const manager = await openManager(connection);
  for (const name of streams) {
    signal.throwIfAborted();
    const { config } = await manager.streams.info(name);
    if (config.num_replicas === replicas) continue;
    await manager.streams.update(name, { num_replicas: replicas });
  }
}
