import type { DescMessage } from "@bufbuild/protobuf";
import type { StreamAPI } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { channelOf } from "@reeve/contracts/channel";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { ensureStream, openJetStreamManager } from "../ensure-stream.ts";
import { describedCount } from "./describe-shard.ts";
import { channelsOfShards, findShards } from "./find-shards.ts";

/**
 * Creates the streams over which a store spreads the messages of a schema, and returns their names. Throws a Failure of kind
 * `precondition` if the store has another number of them already.
 */
export async function provisionShards(
  connection: NatsConnection,
  schema: DescMessage,
  count: number,
): Promise<readonly string[]> {
  const manager = await openJetStreamManager(connection);
  const existing = await findShards(manager.streams, schema);
  const left = existing ?? (await countOfOthers(manager.streams, schema));
  if (left !== undefined && left !== count) throw otherCount(schema, left, count);
  const names: string[] = [];
  // Processes find the shards by the first one, so it is the last to be created.
  for (const channel of channelsOfShards(schema, count).toReversed()) {
    names.push((await ensureStream(connection, manager, channel)).name);
  }
  return names;
}

/** Returns how many shards the others name when the first one is missing: provisioning was interrupted, or the stream was lost. */
async function countOfOthers(streams: StreamAPI, schema: DescMessage): Promise<number | undefined> {
  const prefix = `${channelOf(schema).stream?.name ?? ""}_`;
  for await (const { config } of streams.list()) {
    const count = config.name.startsWith(prefix)
      ? describedCount(config.description ?? "")
      : undefined;
    if (count !== undefined) return count;
  }
  return undefined;
}

function otherCount(schema: DescMessage, existing: number, count: number): Failure {
  const name = channelOf(schema).stream?.name ?? "";
  return new Failure(
    "precondition",
    ErrorReason.INTERNAL,
    `${name} has ${existing} shards, and ${count} are requested; a store keeps the number of shards with which it was created: set REEVE_RUN_SHARDS to ${existing}, or use an empty store`,
  );
}
