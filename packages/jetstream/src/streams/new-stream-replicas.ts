import type { NatsConnection } from "@nats-io/transport-node";

const counts = new WeakMap<NatsConnection, number>();

/**
 * Makes this process create missing streams and buckets over a connection with several replicas at once. A stream that gets its
 * replicas later is not safe for minutes: a server that restarts meanwhile may believe that it keeps the stream alone, and accept
 * writes that the others do not have.
 */
export function createWithReplicas(connection: NatsConnection, replicas: number): void {
  counts.set(connection, replicas);
}

/** How many servers keep a stream or bucket that is created over a connection. Default: one. */
export function replicasOfNew(connection: NatsConnection): number {
  return counts.get(connection) ?? 1;
}
