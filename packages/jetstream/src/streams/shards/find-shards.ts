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
 * kind `precondition` if the store has streams with shards and one without.
 */
export async function findShards(
  streams: StreamAPI,
  schema: DescMessage,
): Promise<number | undefined> {
  const { stream } = channelOf(schema);
  if (stream === undefined) throw new Error(`${schema.typeName} declares no stream`);
  const first = stream.sharded ? await countOf(streams, `${stream.name}_0`) : undefined;
  const whole = await configOfStream(streams, stream.name).catch(unlessForbidden);
  if (first === undefined) return whole && 1;
  if (whole === undefined) return first;
  throw new Failure(
    "precondition",
    ErrorReason.INTERNAL,
    `the store has the stream ${stream.name} and its ${first} shards ${stream.name}_0 to ${stream.name}_${first - 1}; a version without shards has written to ${stream.name}: end its processes, and restore the store from a backup or delete ${stream.name}`,
  );
}

async function countOf(streams: StreamAPI, name: string): Promise<number | undefined> {
  const config = await configOfStream(streams, name).catch(unlessForbidden);
  return config && describedCount(config.description ?? "");
}

/** The users of a store without shards may not look for them, and those of a store with shards not for the stream without. */
function unlessForbidden(error: unknown): undefined {
  if (isForbidden(error)) return undefined;
  throw error;
}
