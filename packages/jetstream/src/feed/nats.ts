import type { Consumer, ConsumerMessages, JetStreamManager, JsMsg } from "@nats-io/jetstream";
import { DeliverPolicy, jetstream } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { nanos } from "@nats-io/transport-node";
import type { DescMessage } from "@bufbuild/protobuf";
import { steadyClock } from "@reeve/platform/async/clock";
import { onAbort } from "@reeve/platform/async/on-abort";
import { delayAfter } from "@reeve/platform/async/retry/backoff";
import { retryUnavailable } from "@reeve/platform/async/retry/retry-unavailable";
import { sleep } from "@reeve/platform/async/sleep";
import type { LogDefinition } from "../log/definitions.ts";
import { runLogDefinition, threadLogDefinition } from "../log/definitions.ts";
import type { StoredBatch } from "../log/stored-batch.ts";
import { batchFromHeaders } from "../log/stored-batch.ts";
import { SubjectReader } from "../log/reading/subject-reader.ts";
import { isTenantKeyDeleted } from "../sealing/key-failures.ts";
import { ensureConsumer, untilConsumerIsReady } from "../streams/ensure-consumer.ts";
import { openJetStreamManager } from "../streams/ensure-stream.ts";
import { maxPayloadBytes } from "../streams/payload-limit.ts";
import type { OpenShard } from "../streams/shards/open-shards.ts";
import { openShards } from "../streams/shards/open-shards.ts";
import { mergedFeed } from "./merged-feed.ts";
import { batchOpener, isOfKinds } from "./open-batch-content.ts";
import type { Feed, FeedBatch, KindFilter } from "./port.ts";
import type { RunFeed } from "./run-feed.ts";
import type { ThreadFeed } from "./thread-feed.ts";
import { UnsettledMessages } from "./unsettled-messages.ts";

export interface FeedOptions {
  /** How long a reader may take to acknowledge a batch before it is delivered again. Default: 10 s. */
  readonly ackWaitMs?: number;
  /** Where a reader starts that has no position yet: at the beginning of the store, or at its end. Default: `beginning`. */
  readonly start?: "beginning" | "end";
}

/** What the store delivers of each batch: all of it, or its headers, so that a batch which matches is read. */
type Delivered = "batches" | "headers";

const pullMs = 5_000;
const pullRetryMs = 500;
const maxPulledMessages = 128;
/** How many bytes of batches the pulls of a feed may bring together: the server closes a connection for which it holds more than 64 MiB. */
const maxPulledBytes = 16 * 1024 * 1024;
/** The header of a message that was delivered without its data. */
const withheldSize = "Nats-Msg-Size";
/**
 * Upper limit of batches that are not acknowledged, over all readers of a name. Those that nobody can read now wait among them, so it
 * is far above what readers hold.
 */
const maxUnsettled = 100_000;
/** The maximum time after which a batch that cannot be read is read again. */
const maxRetryDelayMs = 120_000;
/** How long the read of a batch is retried while the store is unavailable. */
const maxRetryMs = 5_000;

/**
 * Opens the feed of all runs, which reads the stream of their logs. Most batches matter to a reader, or are small, so they are
 * delivered whole.
 */
export function openRunFeed(
  { connection }: { readonly connection: NatsConnection },
  options: FeedOptions = {},
): Promise<RunFeed> {
  return openFeed({ connection }, runLogDefinition, "batches", options);
}

/** Opens the feed of all threads, which reads the stream of their logs. */
export function openThreadFeed(
  { connection }: { readonly connection: NatsConnection },
  options: FeedOptions = {},
): Promise<ThreadFeed> {
  return openFeed({ connection }, threadLogDefinition, "headers", options);
}

/** Opens the feed of all logs of a store. */
async function openFeed<Key, Event, Schema extends DescMessage>(
  { connection }: { readonly connection: NatsConnection },
  definition: LogDefinition<Key, Event, Schema>,
  delivered: Delivered,
  options: FeedOptions,
): Promise<Feed<Key, Event>> {
  const manager = await openJetStreamManager(connection);
  const shards = await openShards(connection, definition.schema);
  const feedOf = (shard: OpenShard) =>
    feedOfStream(
      { connection, manager, share: maxPulledBytes / shards.length },
      definition,
      shard,
      delivered,
      options,
    );
  return mergedFeed(shards.map(feedOf));
}

interface StreamReading {
  readonly connection: NatsConnection;
  readonly manager: JetStreamManager;
  /** How many bytes of batches a pull may bring. */
  readonly share: number;
}

/** Returns the feed of all logs of a stream. */
function feedOfStream<Key, Event, Schema extends DescMessage>(
  { connection, manager, share }: StreamReading,
  definition: LogDefinition<Key, Event, Schema>,
  { channel, place }: OpenShard,
  delivered: Delivered,
  { ackWaitMs = 10_000, start = "beginning" }: FeedOptions,
): Feed<Key, Event> {
  const opener = batchOpener(connection, definition, channel);
  const reader = new SubjectReader(connection, place);
  const { name: stream } = place;
  const maxPulled =
    delivered === "headers"
      ? maxPulledMessages
      : Math.max(1, Math.floor(share / maxPayloadBytes(connection)));
  return {
    async *consume(name, kinds, signal) {
      const durable = {
        durable_name: name,
        ack_wait: nanos(ackWaitMs),
        headers_only: delivered === "headers",
        max_ack_pending: maxUnsettled,
        deliver_policy: start === "end" ? DeliverPolicy.New : DeliverPolicy.All,
      };
      const consumer = await untilConsumerIsReady(connection, name, async () => {
        await ensureConsumer(manager, stream, durable, { isConsumer: true });
        return await jetstream(connection).consumers.get(stream, name);
      });
      const unsettled = new UnsettledMessages(ackWaitMs, steadyClock);
      try {
        for (;;) {
          yield* pulledBatches(consumer, kinds, unsettled, signal);
          signal.throwIfAborted();
        }
      } finally {
        if (signal.aborted) unsettled.release();
      }
    },
  };

  async function* pulledBatches(
    consumer: Consumer,
    kinds: KindFilter,
    unsettled: UnsettledMessages,
    signal: AbortSignal,
  ): AsyncIterable<FeedBatch<Key, Event>> {
    const messages = await pull(consumer, maxPulled, signal);
    if (messages === undefined) return;
    const iterator = messages[Symbol.asyncIterator]();
    using _ = onAbort(signal, () => messages.stop());
    try {
      for (;;) {
        const next = await iterator.next();
        if (next.done === true) return;
        unsettled.add(next.value);
        if (signal.aborted) return;
        const batch = await matchingBatch(next.value, kinds, unsettled, signal);
        if (batch === undefined) continue;
        yield batch;
        // The reader continued, and may still process it.
        unsettled.leave(next.value);
      }
    } catch {
      // A pull that ends with its connection is repeated.
      await sleep(pullRetryMs, signal);
    } finally {
      if (signal.aborted) await unsettled.addRest(iterator);
      await iterator.return?.();
      messages.stop();
    }
  }

  /**
   * Returns the batch of a message, and reads what it lacks. Acknowledges it and returns undefined when it has none of `kinds`. One that cannot
   * be read now is delivered again, at growing intervals, while those of other tenants follow.
   */
  async function matchingBatch(
    message: JsMsg,
    kinds: KindFilter,
    unsettled: UnsettledMessages,
    signal: AbortSignal,
  ): Promise<FeedBatch<Key, Event> | undefined> {
    const announced =
      message.headers && batchFromHeaders(message.seq, message.headers, message.data);
    const matches = announced !== undefined && isOfKinds(announced, kinds);
    try {
      const batch = matches ? await wholeBatch(message, announced, signal) : undefined;
      // A log may be deleted before its batches are read.
      const opened = batch && (await opener.open(message.subject, batch, signal));
      if (opened !== undefined) {
        return { ...opened, acknowledge: () => unsettled.acknowledge(message) };
      }
      unsettled.acknowledge(message);
    } catch (error) {
      // Nobody can ever read it, so projections do without it.
      if (isTenantKeyDeleted(error)) unsettled.acknowledge(message);
      // A reader that ends returns it with the others.
      else if (!signal.aborted) unsettled.postpone(message, retryDelayOf(message));
    }
    return undefined;
  }

  /** A consumer that an older version has created delivers headers until this version has changed it. */
  async function wholeBatch(
    { seq, headers }: JsMsg,
    announced: StoredBatch | undefined,
    signal: AbortSignal,
  ): Promise<StoredBatch | undefined> {
    if (headers?.has(withheldSize) !== true) return announced;
    return await retryUnavailable(() => reader.at(seq), { maxElapsedMs: maxRetryMs }, signal);
  }

  function retryDelayOf({ info }: JsMsg): number {
    const delays = { firstDelayMs: ackWaitMs, maxDelayMs: Math.max(ackWaitMs, maxRetryDelayMs) };
    return delayAfter(info.deliveryCount, delays);
  }
}

async function pull(
  consumer: Consumer,
  maxMessages: number,
  signal: AbortSignal,
): Promise<ConsumerMessages | undefined> {
  try {
    return await consumer.fetch({ max_messages: maxMessages, expires: pullMs });
  } catch {
    await sleep(pullRetryMs, signal);
    return undefined;
  }
}
