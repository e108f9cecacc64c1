import type { JetStreamManager } from "@nats-io/jetstream";
import type { DescMessage } from "@bufbuild/protobuf";
import type { ChannelTemplate } from "@reeve/contracts/channel";
import type { Projection } from "@reeve/contracts/projection";
import { RunBatchSchema } from "@reeve/contracts/run";
import { ThreadBatchSchema } from "@reeve/contracts/thread";
import { positionName } from "../feed/positioned/position-name.ts";
import { isNotFound } from "../streams/errors.ts";
import { channelsOfShards, findShards } from "../streams/shards/find-shards.ts";
import type { Table } from "../table/port.ts";

/** The readers of all logs, and what they read. */
const readers: readonly (readonly [name: string, batches: DescMessage])[] = [
  ["approvals-inbox", RunBatchSchema],
  ["approvals-notify", RunBatchSchema],
  ["run-index", RunBatchSchema],
  ["thread-index", ThreadBatchSchema],
];

/** How far a reader is behind. */
export interface FeedLagState {
  readonly name: string;
  /** Batches that it has not processed, at most. */
  readonly batchesBehind: number;
}

interface FeedStores {
  readonly manager: JetStreamManager;
  /** The positions of readers that keep one themselves. */
  readonly positions: Pick<Table<Projection>, "get">;
}

/** Returns how far each reader of all logs is behind. Leaves out those that have not begun. */
export async function feedLags(
  stores: FeedStores,
  signal: AbortSignal,
): Promise<readonly FeedLagState[]> {
  const lags = await Promise.all(
    readers.map(async ([name, batches]) => {
      const shards = await findShards(stores.manager.streams, batches);
      const lags = await Promise.all(
        channelsOfShards(batches, shards ?? 1).map((shard) => inShard(stores, shard, name, signal)),
      );
      const known = lags.filter((lag) => lag !== undefined);
      const batchesBehind = known.reduce((sum, lag) => sum + lag, 0);
      return known.length === 0 ? [] : [{ name, batchesBehind }];
    }),
  );
  return lags.flat();
}

async function inShard(
  stores: FeedStores,
  shard: ChannelTemplate,
  name: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  const stream = shard.stream?.name ?? "";
  const known = [
    await ofConsumer(stores.manager, stream, name),
    await ofPosition(stores, stream, positionName(name, shard), signal),
  ].filter((lag) => lag !== undefined);
  // A reader that changed its way of reading has left the other one behind.
  return known.length === 0 ? undefined : Math.min(...known);
}

async function ofConsumer(
  manager: JetStreamManager,
  stream: string,
  name: string,
): Promise<number | undefined> {
  const info = await unlessMissing(manager.consumers.info(stream, name));
  return info && info.num_pending + info.num_ack_pending;
}

async function ofPosition(
  { manager, positions }: FeedStores,
  stream: string,
  name: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  const position = (await positions.get(name, signal))?.record.position;
  if (position === undefined) return undefined;
  const info = await unlessMissing(manager.streams.info(stream));
  return info && Math.max(0, info.state.last_seq - Number(position.sequence));
}

async function unlessMissing<Info>(asked: Promise<Info>): Promise<Info | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
