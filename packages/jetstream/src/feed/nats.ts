import type { Consumer, ConsumerMessages, JsMsg } from "@nats-io/jetstream";
import { jetstream } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { nanos } from "@nats-io/transport-node";
import type { DescMessage } from "@bufbuild/protobuf";
import { channelOf } from "@reeve/contracts/channel";
import { ensureConsumer } from "../streams/consumers.ts";
import type { FeedBatch, Feed } from "./port.ts";
import type { LogDefinition } from "../log/log-definition.ts";
import { patiently, pause } from "@reeve/platform/async/patiently";
import { batchFromHeaders, eventsAfter } from "../log/stored-batch.ts";
import { ensureStream, openManager } from "../streams/streams.ts";
import { SubjectReader } from "../log/subject-reader.ts";

export interface FeedOptions {
  /** How long a reader may take for a batch before it is delivered again. */
  readonly ackWaitMs?: number;
}

const pullMs = 5_000;
const retryMs = 500;
const maxPulled = 128;
/** How long a batch waits for a store that is away. */
const patienceMs = 5_000;

/** What happens in all logs of a stream: headers only, and the payload of what is wanted. */
export async function openFeed<Key, Event, Kind extends string, Schema extends DescMessage>(
  { connection }: { readonly connection: NatsConnection },
  definition: LogDefinition<Key, Event, Schema>,
  { ackWaitMs = 10_000 }: FeedOptions = {},
): Promise<Feed<Key, Event, Kind>> {
  const channel = channelOf(definition.schema);
  const reader = await SubjectReader.open(connection, channel);
  const manager = await openManager(connection);
  const stream = await ensureStream(manager, channel);
  return {
    async *consume(name, kinds, signal) {
      const durable = {
        durable_name: name,
        ack_wait: nanos(ackWaitMs),
        headers_only: true,
        max_ack_pending: 1_000,
      };
      await ensureConsumer(manager, stream, durable, { isTaker: true });
      const consumer = await jetstream(connection).consumers.get(stream, name);
      for (;;) {
        const messages = await pull(consumer, signal);
        const stop = () => messages?.stop();
        signal.addEventListener("abort", stop, { once: true });
        if (signal.aborted) stop();
        try {
          for await (const message of messages ?? []) {
            if (signal.aborted) message.nak();
            else {
              const batch = await fed(message, kinds, signal);
              if (batch !== undefined) yield batch;
            }
          }
        } catch {
          // A pull that breaks with its connection is simply made again.
          await pause(retryMs, signal);
        } finally {
          signal.removeEventListener("abort", stop);
          stop();
        }
        signal.throwIfAborted();
      }
    },
  };

  /** The batch that a header announces; undefined, and acknowledged, when nobody wants it. */
  async function fed(
    message: JsMsg,
    kinds: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<FeedBatch<Key, Event> | undefined> {
    const tokens = channel.tokensOf(message.subject);
    const key = tokens && definition.keyOf(tokens);
    const described = message.headers && batchFromHeaders(message.seq, message.headers, message.data).kinds;
    const isWanted = described?.some((kind) => kinds.has(kind)) ?? false;
    try {
      const whole = isWanted
        ? await patiently(() => reader.at(message.seq), patienceMs, signal)
        : undefined;
      // A log may be deleted before its batches are read.
      if (key !== undefined && whole !== undefined) {
        const events = eventsAfter(definition, whole, 0);
        return { key, events, acknowledge: () => message.ack() };
      }
      message.ack();
    } catch {
      message.nak(signal.aborted ? 0 : ackWaitMs);
    }
    return undefined;
  }
}

async function pull(
  consumer: Consumer,
  signal: AbortSignal,
): Promise<ConsumerMessages | undefined> {
  try {
    return await consumer.fetch({ max_messages: maxPulled, expires: pullMs });
  } catch {
    await pause(retryMs, signal);
    return undefined;
  }
}
