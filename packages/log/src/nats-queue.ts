import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import type { Consumer, ConsumerMessages, JsMsg } from "@nats-io/jetstream";
import { jetstream } from "@nats-io/jetstream";
import type { MsgHdrs, NatsConnection } from "@nats-io/transport-node";
import { headers, nanos } from "@nats-io/transport-node";
import type { Dispatch } from "@reeve/contracts/run";
import { DispatchSchema } from "@reeve/contracts/run";
import type { ToolCallRequest } from "@reeve/contracts/tool";
import { ToolCallRequestSchema } from "@reeve/contracts/tool";
import { channelOf } from "@reeve/contracts/channel";
import { asStored } from "@reeve/contracts/nesting";
import { Capacity } from "./capacity.ts";
import { ensureConsumer } from "./consumers.ts";
import { stateOf } from "@reeve/platform/connection-state";
import { patiently, pause } from "@reeve/platform/patiently";
import { StreamPublisher } from "./publisher.ts";
import { traceparentHeader, traceparentOf } from "@reeve/platform/tracing/spans";
import { unanswered } from "@reeve/platform/unanswered";
import { failureOfRefusal } from "./store-failure.ts";
import { ensureStream, managerOf } from "./streams.ts";
import type { Delivery, WorkQueue } from "./work-queue.ts";
import { countDelivery } from "./queue-metrics.ts";
import { publicationSpan } from "./publication-span.ts";

/** How long a pull stands: a paused process must not swallow what is delivered again. */
const pullMs = 1_500;
const retryMs = 500;
/** Unsettled messages of all takers together. */
const mostHeld = 100_000;
/** How long a publication waits for a store that is away. */
const patienceMs = 10_000;

/** How long a queue waits for a silent taker. */
export interface QueuePatience {
  readonly ackWaitMs: number;
  /** Whether the opener takes from the queue: only takers change the ack-wait of a queue that is there. */
  readonly isTaker?: boolean;
}

interface QueueOptions<Schema extends DescMessage> extends QueuePatience {
  readonly schema: Schema;
  readonly tokens: Readonly<Record<string, string>>;
  readonly durable: string;
}

/** The queue of runs that want a worker. */
export function openDispatchQueue(
  { connection }: { readonly connection: NatsConnection },
  patience: QueuePatience,
): Promise<WorkQueue<Dispatch>> {
  const tokens = {};
  return NatsQueue.open(connection, {
    schema: DispatchSchema,
    tokens,
    durable: "runtime",
    ...patience,
  });
}

/** The queue of calls for a pool of toolhosts. */
export function openToolCallQueue(
  { connection }: { readonly connection: NatsConnection },
  { pool, ...patience }: QueuePatience & { readonly pool: string },
): Promise<WorkQueue<ToolCallRequest>> {
  const tokens = { pool };
  return NatsQueue.open(connection, {
    schema: ToolCallRequestSchema,
    tokens,
    durable: pool,
    ...patience,
  });
}

class NatsQueue<Schema extends DescMessage> implements WorkQueue<MessageShape<Schema>> {
  readonly #schema: Schema;
  readonly #subject: string;
  readonly #publisher: StreamPublisher;
  readonly #consumer: Consumer;
  readonly #look: (sequence: number) => Promise<boolean>;

  private constructor(
    schema: Schema,
    subject: string,
    publisher: StreamPublisher,
    consumer: Consumer,
    look: (sequence: number) => Promise<boolean>,
  ) {
    this.#schema = schema;
    this.#subject = subject;
    this.#publisher = publisher;
    this.#consumer = consumer;
    this.#look = look;
  }

  static async open<Schema extends DescMessage>(
    connection: NatsConnection,
    { schema, tokens, durable, ackWaitMs, isTaker = false }: QueueOptions<Schema>,
  ): Promise<NatsQueue<Schema>> {
    const channel = channelOf(schema);
    const subject = channel.subject(tokens);
    const manager = await managerOf(connection);
    const stream = await ensureStream(manager, channel);
    const config = {
      durable_name: durable,
      filter_subject: subject,
      ack_wait: nanos(ackWaitMs),
      max_ack_pending: mostHeld,
    };
    await ensureConsumer(manager, stream, config, { isTaker });
    const consumer = await jetstream(connection).consumers.get(stream, durable);
    const look = async (sequence: number) => {
      const stored = () => manager.direct.getMessage(stream, { seq: sequence });
      try {
        return (await stateOf(connection).answerTo(stored)) !== null;
      } catch (error) {
        throw unanswered(error);
      }
    };
    return new NatsQueue(schema, subject, new StreamPublisher(connection), consumer, look);
  }

  async publish(
    message: MessageShape<Schema>,
    { dedupeId }: { readonly dedupeId: string },
    signal: AbortSignal,
  ): Promise<number> {
    const data = toBinary(this.#schema, message);
    // The id makes it harmless to publish again after an answer that was lost.
    const publish = async (described: MsgHdrs) => {
      const reply = await this.#publisher.publish(this.#subject, data, described);
      if (reply.kind === "refused") throw failureOfRefusal(reply.refusal);
      if (reply.kind === "unanswered") throw unanswered();
      return reply.sequence;
    };
    return await publicationSpan(this.#subject, async () => {
      const described = headers();
      described.set("Nats-Msg-Id", dedupeId);
      const traceparent = traceparentOf();
      if (traceparent !== "") described.set(traceparentHeader, traceparent);
      return await patiently(() => publish(described), patienceMs, signal);
    });
  }

  async holds(sequence: number, signal: AbortSignal): Promise<boolean> {
    return await patiently(() => this.#look(sequence), patienceMs, signal);
  }

  async *take(
    concurrency: number,
    signal: AbortSignal,
  ): AsyncIterable<Delivery<MessageShape<Schema>>> {
    const capacity = new Capacity(concurrency);
    for (;;) {
      await capacity.waitForFree(signal);
      const messages = await this.#pull(capacity.free, signal);
      const stop = () => messages?.stop();
      signal.addEventListener("abort", stop, { once: true });
      if (signal.aborted) stop();
      try {
        for await (const message of messages ?? []) {
          if (signal.aborted) message.nak();
          else {
            const content = this.#contentOf(message);
            countDelivery(this.#subject, message.info.deliveryCount);
            if (content !== undefined) yield delivery(message, content, capacity.take());
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
  }

  async #pull(most: number, signal: AbortSignal): Promise<ConsumerMessages | undefined> {
    try {
      return await this.#consumer.fetch({ max_messages: most, expires: pullMs });
    } catch {
      await pause(retryMs, signal);
      return undefined;
    }
  }

  #contentOf(message: JsMsg): MessageShape<Schema> | undefined {
    try {
      return fromBinary(this.#schema, message.data, asStored);
    } catch {
      // It would come back for ever, and no taker could read it.
      message.term(`not a ${this.#schema.typeName}`);
      return undefined;
    }
  }
}

function delivery<Message>(
  message: JsMsg,
  content: Message,
  release: () => void,
): Delivery<Message> {
  const settle = (how: () => void) => {
    release();
    how();
  };
  return {
    message: content,
    sequence: message.info.streamSequence,
    attempt: message.info.deliveryCount,
    traceparent: message.headers?.get(traceparentHeader) ?? "",
    extend: () => message.working(),
    acknowledge: () => settle(() => message.ack()),
    giveBack: (delayMs) => settle(() => message.nak(delayMs)),
    forget: release,
  };
}
