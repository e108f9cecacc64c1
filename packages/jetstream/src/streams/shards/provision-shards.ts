import type { DescMessage } from "@bufbuild/protobuf";
import type { NatsConnection } from "@nats-io/transport-node";
import { channelOf } from "@reeve/contracts/channel";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { ensureStream, openJetStreamManager } from "../ensure-stream.ts";
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
  if (existing !== undefined && existing !== count) throw otherCount(schema, existing, count);
  const names: string[] = [];
  // Processes find the shards by the first one, so it is the last to be created.
  for (const channel of channelsOfShards(schema, count).toReversed()) {
    names.push((await ensureStream(connection, manager, channel)).name);
  }
  return names;
}

function otherCount(schema: DescMessage, existing: number, count: number): Failure {
  const name = channelOf(schema).stream?.name ?? "";
  return new Failure(
    "precondition",
    ErrorReason.INTERNAL,
    `${name} has ${existing} shards, and ${count} are requested; a store keeps the number of shards with which it was created: set REEVE_RUN_SHARDS to ${existing}, or use an empty store`,
  );
}
