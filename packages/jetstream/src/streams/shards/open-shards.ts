import type { DescMessage } from "@bufbuild/protobuf";
import type { NatsConnection } from "@nats-io/transport-node";
import type { ChannelTemplate } from "@reeve/contracts/channel";
import { channelOf } from "@reeve/contracts/channel";
import { ErrorReason } from "@reeve/contracts/error";
import { neverAborts } from "@reeve/platform/async/never-aborts";
import { retry } from "@reeve/platform/async/retry/retry";
import { Failure } from "@reeve/platform/failure";
import { connectionStateOf } from "@reeve/platform/nats/connection-state";
import { storeStep } from "@reeve/platform/nats/store-steps";
import { ensureConfig, openJetStreamManager } from "../ensure-stream.ts";
import { isForbidden } from "../errors.ts";
import type { StreamPlace } from "../stream-messages.ts";
import { isUnanswered, untilReady } from "../until-ready.ts";
import { channelsOfShards, findShards } from "./find-shards.ts";

/** A shard of a store, or its only stream. */
export interface OpenShard {
  readonly channel: ChannelTemplate;
  readonly place: StreamPlace;
}

/**
 * Opens the streams over which the store spreads the messages of a schema, in the order of their indexes. Creates one without shards
 * if there is none. Waits for the store, and throws, as `ensureStream` does.
 */
export async function openShards(
  connection: NatsConnection,
  schema: DescMessage,
): Promise<readonly OpenShard[]> {
  const manager = await openJetStreamManager(connection);
  const { stream } = channelOf(schema);
  const open = async () => {
    // Another process may create the shards while this one waits for them.
    const count = stream?.sharded === true ? await findShards(manager.streams, schema) : 1;
    const channels = channelsOfShards(schema, count ?? 1);
    return await Promise.all(
      channels.map(async (channel) => {
        const place = await ensureConfig(connection, manager, channel).catch((error: unknown) => {
          throw channel.shard !== undefined && isForbidden(error) ? lacksRights(channel) : error;
        });
        return { channel, place };
      }),
    );
  };
  const state = connectionStateOf(connection);
  const step = `stream ${stream?.name ?? ""}`;
  const options = untilReady(connection, isUnanswered);
  return await storeStep(connection, step, () =>
    retry(() => state.whileConnected(open), options, neverAborts),
  );
}

/** Not an error of permissions, after which the store would be asked again for minutes. */
function lacksRights({ stream, shard }: ChannelTemplate): Failure {
  return new Failure(
    "precondition",
    ErrorReason.INTERNAL,
    `this user of NATS has no rights on stream ${stream?.name ?? ""}; the logs of runs have ${shard?.count ?? 1} shards: write the users again with \`reeve nats-accounts --run-shards ${shard?.count ?? 1}\``,
  );
}
