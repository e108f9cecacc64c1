import type { DescMessage } from "@bufbuild/protobuf";
import type { StreamAPI } from "@nats-io/jetstream";
import type { ChannelTemplate } from "@reeve/contracts/channel";
import { channelOf, shardChannel } from "@reeve/contracts/channel";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { configOfStream } from "../config-of-stream.ts";
import { isForbidden } from "../errors.ts";
import { describedCount } from "./describe-shard.ts";

/** Returns the channels of all shards of a store. With one, it is the channel that the schema declares. */
export function channelsOfShards(schema: DescMessage, count: number): readonly ChannelTemplate[] {
  if (count === 1) return [channelOf(schema)];
  return Array.from({ length: count }, (_, index) => shardChannel(schema, { index, count }));
}

/**
 * Returns over how many streams a store spreads the messages of a schema; undefined if it has none of them yet. Throws a Failure of
 * kind `precondition` if the first shard does not say how many there are.
 */
export async function findShards(
  streams: StreamAPI,
  schema: DescMessage,
): Promise<number | undefined> {
  const { stream } = channelOf(schema);
  if (stream === undefined) throw new Error(`${schema.typeName} declares no stream`);
  const { name } = stream;
  const first = stream.sharded
    ? await configOfStream(streams, `${name}_0`).catch(unlessForbidden)
    : undefined;
  if (first === undefined) {
    const whole = await configOfStream(streams, name).catch(unlessForbidden);
    return whole && 1;
  }
  const count = describedCount(first.description ?? "");
  if (count !== undefined) return count;
  throw new Failure(
    "precondition",
    ErrorReason.INTERNAL,
    `the description of stream ${name}_0 does not say how many shards there are; let it end with "shard 0 of COUNT" again, as those of ${name}_1 and the others do`,
  );
}

/** The users of a store without shards may not look for them, and those of a store with shards not for the stream without. */
function unlessForbidden(error: unknown): undefined {
  if (isForbidden(error)) return undefined;
  throw error;
}
