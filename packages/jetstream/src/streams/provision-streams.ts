import type { NatsConnection } from "@nats-io/transport-node";
import { channelOf } from "@reeve/contracts/channel";
import { messagesWithChannel } from "@reeve/contracts/declared";
import type { RetryOptions } from "@reeve/platform/async/retry/retry";
import { retry } from "@reeve/platform/async/retry/retry";
import { storeStep } from "@reeve/platform/nats/store-steps";
import { openDispatchQueue } from "../queue/lanes/dispatch-queue.ts";
import { openToolCallQueue } from "../queue/nats.ts";
import { openReserve } from "../reserve/keep-reserve.ts";
import { reserveStream } from "../reserve/reserve-state.ts";
import { ensureBucket, ensureStream, openJetStreamManager } from "./ensure-stream.ts";
import { lacksLeader, maxElectionMs } from "./until-ready.ts";
import { createWithReplicas } from "./new-stream-replicas.ts";
import { assertClusterKeepsReplicas } from "./replication-support.ts";
import { provisionShards } from "./shards/provision-shards.ts";

const untilJoined: RetryOptions = {
  backoff: { firstDelayMs: 250, maxDelayMs: 1_000 },
  maxElapsedMs: maxElectionMs,
  isRetryable: lacksLeader,
};

interface ProvisionOptions {
  readonly pools: readonly string[];
  readonly ackWaitMs: number;
  /** How many servers keep what is created, by this function and by `provisionBuckets` after it. Default: one. */
  readonly replicas?: number;
  /** Over how many streams the logs of runs are spread. Default: one. */
  readonly runShards?: number;
}

/**
 * Creates every stream that the contracts declare, and the durable consumers of the queues: of the dispatch queue, and of the
 * tool call queue of each pool. Consumers redeliver after `ackWaitMs`, until a service that consumes starts with a longer one.
 * Does not change what exists already. Returns the names of the streams. Throws a Failure of kind `precondition` when the store has
 * another number of shards.
 */
export async function provisionStreams(
  nats: { readonly connection: NatsConnection },
  { pools, ackWaitMs, replicas = 1, runShards = 1 }: ProvisionOptions,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const manager = await openJetStreamManager(nats.connection);
  if (replicas > 1) await assertClusterKeepsReplicas(nats.connection);
  createWithReplicas(nats.connection, replicas);
  const names = new Set<string>();
  for (const message of messagesWithChannel) {
    signal.throwIfAborted();
    const channel = channelOf(message);
    if (channel.stream === undefined) continue;
    if (channel.stream.sharded) {
      for (const name of await provisionShards(nats.connection, message, runShards))
        names.add(name);
      continue;
    }
    const { name } = await ensureStream(nats.connection, manager, channel);
    names.add(name);
  }
  names.add(await ensureBucket(nats.connection, reserveStream, () => openReserve(nats)));
  await openDispatchQueue(nats, { ackWaitMs });
  for (const pool of pools) await openToolCallQueue(nats, { pool, ackWaitMs });
  return [...names];
}

/**
 * Sets how many servers keep each of `streams`. Waits for about 2 min for servers that have not joined the cluster yet, and for
 * its leaders. Rejects when the cluster has fewer servers, or when one of them loses writes of streams with several replicas.
 * Services that have opened a stream read it as they found it: restart them.
 */
export async function setReplicas(
  { connection }: { readonly connection: NatsConnection },
  streams: readonly string[],
  replicas: number,
  signal: AbortSignal,
): Promise<void> {
  if (replicas > 1) await assertClusterKeepsReplicas(connection);
  const manager = await openJetStreamManager(connection);
  for (const name of streams) {
    signal.throwIfAborted();
    const { config } = await manager.streams.info(name);
    if (config.num_replicas === replicas) continue;
    const update = () => manager.streams.update(name, { num_replicas: replicas });
    const step = `${replicas} replicas of stream ${name}`;
    await storeStep(connection, step, () => retry(update, untilJoined, signal));
  }
}
