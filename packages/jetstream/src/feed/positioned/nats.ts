import type { DescMessage } from "@bufbuild/protobuf";
import type { JetStreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import type { Projection } from "@reeve/contracts/projection";
import { ProjectionSchema } from "@reeve/contracts/projection";
import { abortable } from "@reeve/platform/async/abortable";
import { sleep } from "@reeve/platform/async/sleep";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { LogDefinition } from "../../log/definitions.ts";
import { runLogDefinition } from "../../log/definitions.ts";
import { openJetStreamManager } from "../../streams/ensure-stream.ts";
import { maxPayloadBytes } from "../../streams/payload-limit.ts";
import type { OpenShard } from "../../streams/shards/open-shards.ts";
import { openShards } from "../../streams/shards/open-shards.ts";
import { StreamMessages } from "../../streams/stream-messages.ts";
import { openTable } from "../../table/nats.ts";
import type { Table } from "../../table/port.ts";
import { mergedFeed } from "../merged-feed.ts";
import { batchOpener } from "../open-batch-content.ts";
import type { Feed } from "../port.ts";
import type { RunFeed } from "../run-feed.ts";
import { FeedReader } from "./feed-reader.ts";
import type { ReadingTurns } from "./in-turn.ts";
import { inTurn } from "./in-turn.ts";
import { positionName } from "./position-name.ts";
import { StoredPosition } from "./stored-position.ts";

/** How long after a lost connection the feed is read again. */
const retryMs = 500;
/** How many bytes of batches the pulls of a feed may bring together: the server closes a connection for which it holds more than 64 MiB. */
const maxPulledBytes = 16 * 1024 * 1024;
/** A reader that ends stores its position in this time. */
const endMs = 2_000;

export interface PositionedFeedOptions {
  /** Which processes read which shards of the store. Default: each process reads all. */
  readonly turns?: ReadingTurns;
  /** How long a reader may take to acknowledge a batch before it gets it again. Default: 10 s. */
  readonly ackWaitMs?: number;
  /** How long a pull waits for batches. One that was lost on its way is missed after a pull without any. Default: 5 s. */
  readonly pullMs?: number;
  /** Gets what an operator has to know. Default: nothing is logged. */
  readonly log?: Pick<Logger, "error">;
}

const silent = { error: () => undefined };

/**
 * Opens the feed of all runs for readers that share their position, and not their work: each process with the name of a reader
 * gets every batch, or those whose turn it has. What it does must be harmless when another one has done it. The store keeps one row for each name, which is
 * written at most once a second, and counts no acknowledgements. A process that dies leaves nothing for which others wait.
 */
export async function openPositionedRunFeed(
  nats: { readonly connection: NatsConnection },
  options: PositionedFeedOptions = {},
): Promise<RunFeed> {
  // A position needs no room that a full store lacks: without it, work is repeated.
  const positions = await openTable(nats, ProjectionSchema, { usesReserve: false });
  return await openPositionedFeed(nats.connection, runLogDefinition, positions, options);
}

async function openPositionedFeed<Key, Event, Schema extends DescMessage>(
  connection: NatsConnection,
  definition: LogDefinition<Key, Event, Schema>,
  positions: Table<Projection>,
  options: PositionedFeedOptions,
): Promise<Feed<Key, Event>> {
  const manager = await openJetStreamManager(connection);
  const shards = await openShards(connection, definition.schema);
  const stores = { connection, manager, positions };
  const { turns } = options;
  const feedOf = (shard: OpenShard, index: number) => {
    const share = maxPulledBytes / shards.length;
    const feed = positionedFeed({ ...stores, share }, definition, shard, options);
    return turns === undefined ? feed : inTurn(feed, index, turns);
  };
  return mergedFeed(shards.map(feedOf));
}

interface FeedStores {
  readonly connection: NatsConnection;
  readonly manager: JetStreamManager;
  readonly positions: Table<Projection>;
  /** How many bytes a pull may bring. */
  readonly share: number;
}

function positionedFeed<Key, Event, Schema extends DescMessage>(
  { connection, manager, positions, share }: FeedStores,
  definition: LogDefinition<Key, Event, Schema>,
  { channel, place }: OpenShard,
  { ackWaitMs = 10_000, pullMs = 5_000, log = silent }: PositionedFeedOptions,
): Feed<Key, Event> {
  const messages = new StreamMessages(connection, place);
  const maxPulled = Math.max(1, Math.floor(share / maxPayloadBytes(connection)));
  const opener = batchOpener(connection, definition, channel);
  const filterOf = (tenant: string) => channel.filter({ tenant });
  return {
    async *consume(name, kinds, signal) {
      const reader = new FeedReader({
        connection,
        stream: { name: place.name, manager, messages },
        messages,
        opener,
        filterOf,
        position: new StoredPosition(positions, positionName(name, channel), log),
        name,
        kinds,
        ackWaitMs,
        maxPulled,
        pullMs,
      });
      try {
        for (;;) {
          yield* reader.read(signal);
          await sleep(retryMs, signal);
        }
      } finally {
        const timeout = AbortSignal.timeout(endMs);
        await abortable(reader.storePosition(timeout), timeout).catch(() => undefined);
      }
    },
  };
}
