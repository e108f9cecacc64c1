import { jetstreamManager } from "@nats-io/jetstream";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { NatsCluster } from "../../../../test/support/nats-cluster.ts";
import { provisionBuckets } from "../../src/streams/provision-buckets.ts";
import { provisionStreams } from "../../src/streams/provision-streams.ts";

const never = new AbortController().signal;

/** A cluster of three NATS servers that keep three replicas of every stream, and a connection to each server. */
export interface ReplicatedStreams extends AsyncDisposable {
  readonly cluster: NatsCluster;
  readonly connections: readonly [Nats, Nats, Nats];
  /** Replaces a stream by an empty one with the same settings. */
  replace(stream: string): Promise<void>;
}

export async function startReplicatedStreams(): Promise<ReplicatedStreams> {
  await using starting = new AsyncDisposableStack();
  const cluster = starting.use(await NatsCluster.start());
  const [first, second, third] = await cluster.connectAll();
  if (first === undefined || second === undefined || third === undefined) {
    throw new Error("the cluster has fewer than three servers");
  }
  const streams = [
    ...(await provisionStreams(
      first,
      { pools: ["default"], ackWaitMs: 1_000, replicas: 3 },
      never,
    )),
    ...(await provisionBuckets(first, never)),
  ];
  for (const stream of streams) await cluster.whole(stream);
  const resources = starting.move();
  return {
    cluster,
    connections: [first, second, third],
    async replace(stream) {
      const manager = await jetstreamManager(first.connection, { timeout: 10_000 });
      const { config } = await manager.streams.info(stream);
      await manager.streams.delete(stream);
      await manager.streams.add(config);
      await cluster.whole(stream);
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
