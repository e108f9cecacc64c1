import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import type { Consumer, ConsumerMessages, JetStreamManager, JsMsg } from "@nats-io/jetstream";
import { AckPolicy, jetstream } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { headers, nanos } from "@nats-io/transport-node";
import type { Dispatch } from "@reeve/contracts/run";
import { DispatchSchema } from "@reeve/contracts/run";
import type { ToolCallRequest } from "@reeve/contracts/tool";
import { ToolCallRequestSchema } from "@reeve/contracts/tool";
import { channelOf } from "@reeve/contracts/channel";
import { setTimeout as wait } from "node:timers/promises";
import { Capacity } from "./capacity.ts";
import { isMissing } from "./missing.ts";
import type { StreamPublisher } from "./publisher.ts";
import { publisherOf } from "./publisher.ts";
import { failureOfRefusal, unanswered } from "./store-failure.ts";
import { ensureStream, managerOf } from "./streams.ts";
import type { Delivery, WorkQueue } from "./work-queue.ts";

/** How long a pull stands: a paused process must not swallow what is delivered again. */
const pullMs = 1_500;
const retryMs = 500;
const mostPublishAttempts = 5;

interface QueueOptions<Schema extends DescMessage> {
  readonly schema: Schema;
  readonly tokens: Readonly<Record<string, string>>;
  readonly durable: string;
  readonly ackWaitMs: number;
}

/** The queue of runs that want a worker. */
export function openDispatchQueue(
  { connection }: { readonly connection: NatsConnection },
  { ackWaitMs }: { readonly ackWaitMs: number },
): Promise<WorkQueue<Dispatch>> {
  const tokens = {};
  return NatsQueue.open(connection, {
    schema: DispatchSchema,
    tokens,
    durable: "runtime",
    ackWaitMs,
  });
}

/** The queue of calls for a pool of toolhosts. */
export function openToolCallQueue(
  { connection }: { readonly connection: NatsConnection },
  { pool, ackWaitMs }: { readonly pool: string; readonly ackWaitMs: number },
): Promise<WorkQueue<ToolCallRequest>> {
  const tokens = { pool };
  return NatsQueue.open(connection, {
    schema: ToolCallRequestSchema,
    tokens,
    durable: pool,
    ackWaitMs,
  });
}

class NatsQueue<Schema extends DescMessage> implements WorkQueue<MessageShape<Schema>> {
  readonly #schema: Schema;
  readonly #subject: string;
  readonly #publisher: StreamPublisher;
  readonly #consumer: Consumer;

  private constructor(
    schema: Schema,
    subject: string,
    publisher: StreamPublisher,
    consumer: Consumer,
  ) {
    this.#schema = schema;
    this.#subject = subject;
    this.#publisher = publisher;
    this.#consumer = consumer;
  }

  static async open<Schema extends DescMessage>(
    connection: NatsConnection,
    { schema, tokens, durable, ackWaitMs }: QueueOptions<Schema>,
  ): Promise<NatsQueue<Schema>> {
    const channel = channelOf(schema);
    const subject = channel.subject(tokens);
    const manager = await managerOf(connection);
    const stream = await ensureStream(manager, channel);
    await ensureConsumer(manager, stream, { durable, subject, ackWaitMs });
    const consumer = await jetstream(connection).consumers.get(stream, durable);
    return new NatsQueue(schema, subject, publisherOf(connection), consumer);
  }

  async publish(
    message: MessageShape<Schema>,
    { dedupeId }: { readonly dedupeId: string },
    signal: AbortSignal,
  ): Promise<void> {
    const described = headers();
    described.set("Nats-Msg-Id", dedupeId);
    const data = toBinary(this.#schema, message);
    for (let attempt = 0; attempt < mostPublishAttempts; attempt++) {
      signal.throwIfAborted();
      // The id makes it harmless to ask again after an answer that was lost.
      const reply = await this.#publisher.publish(this.#subject, data, described);
      if (reply.kind === "stored") return;
      if (reply.kind === "refused") throw failureOfRefusal(reply.refusal);
      await wait(retryMs, undefined, { signal });
    }
    throw unanswered();
  }

  async *take(
    concurrency: number,
    signal: AbortSignal,
  ): AsyncIterable<Delivery<MessageShape<Schema>>> {
    const capacity = new Capacity(concurrency);
    while (!signal.aborted) {
      await capacity.waitForFree(signal);
      const messages = await this.#pull(capacity.free, signal);
      if (messages === undefined) continue;
      const stop = () => messages.stop();
      signal.addEventListener("abort", stop, { once: true });
      try {
        for await (const message of messages) {
          if (signal.aborted) message.nak();
          else yield this.#delivery(message, capacity.take());
        }
      } catch {
        // A pull that breaks with its connection is simply made again.
        await wait(retryMs, undefined, { signal });
      } finally {
        signal.removeEventListener("abort", stop);
        messages.stop();
      }
    }
    signal.throwIfAborted();
  }

  async #pull(most: number, signal: AbortSignal): Promise<ConsumerMessages | undefined> {
    try {
      return await this.#consumer.fetch({ max_messages: most, expires: pullMs });
    } catch {
      await wait(retryMs, undefined, { signal });
      return undefined;
    }
  }

  #delivery(message: JsMsg, release: () => void): Delivery<MessageShape<Schema>> {
    const settle = (how: () => void) => {
      release();
      how();
    };
    return {
      message: fromBinary(this.#schema, message.data),
      sequence: message.info.streamSequence,
      attempt: message.info.deliveryCount,
      extend: () => message.working(),
      acknowledge: () => settle(() => message.ack()),
      giveBack: (delayMs) => settle(() => message.nak(delayMs)),
      forget: release,
    };
  }
}

async function ensureConsumer(
  manager: JetStreamManager,
  stream: string,
  {
    durable,
    subject,
    ackWaitMs,
  }: { readonly durable: string; readonly subject: string; readonly ackWaitMs: number },
): Promise<void> {
  const ack_wait = nanos(ackWaitMs);
  try {
    const { config } = await manager.consumers.info(stream, durable);
    if (config.ack_wait !== ack_wait) await manager.consumers.update(stream, durable, { ack_wait });
  } catch (error) {
    if (!isMissing(error)) throw error;
    await manager.consumers.add(stream, {
      durable_name: durable,
      filter_subject: subject,
      ack_policy: AckPolicy.Explicit,
      ack_wait,
      max_deliver: -1,
      max_ack_pending: 100_000,
    });
  }
}
