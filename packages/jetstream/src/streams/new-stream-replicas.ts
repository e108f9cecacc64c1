import type { StreamAPI } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { RunBatchSchema } from "@reeve/contracts/run";
import { configOfStream } from "./config-of-stream.ts";
import { isForbidden } from "./errors.ts";
import { channelsOfShards, findShards } from "./shards/find-shards.ts";

const counts = new WeakMap<NatsConnection, number>();

/**
 * Makes this process create missing streams and buckets over a connection with several replicas at once. A stream that gets its
 * replicas later is not safe for minutes: a server that restarts meanwhile may believe that it keeps the stream alone, and accept
 * writes that the others do not have.
 */
export function createWithReplicas(connection: NatsConnection, replicas: number): void {
  counts.set(connection, replicas);
}

/**
 * Returns how many servers keep a stream or bucket that is created over a connection: as many as `createWithReplicas` has set, or
 * else as many as keep the logs of runs. So a bucket that was deleted is as safe as before when a service creates it again. In a
 * store without logs, one.
 */
export async function replicasOfNew(
  connection: NatsConnection,
  streams: StreamAPI,
): Promise<number> {
  const count = counts.get(connection);
  if (count !== undefined) return count;
  try {
    const shards = (await findShards(streams, RunBatchSchema)) ?? 1;
    const [first] = channelsOfShards(RunBatchSchema, shards);
    return (await configOfStream(streams, first?.stream?.name ?? ""))?.num_replicas ?? 1;
  } catch (error) {
    if (isForbidden(error)) return 1;
    throw error;
  }
}
