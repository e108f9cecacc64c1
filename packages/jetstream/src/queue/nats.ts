import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { fromBinary } from "@bufbuild/protobuf";
import type { Consumer, ConsumerMessages, JsMsg } from "@nats-io/jetstream";
import { jetstream } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { nanos } from "@nats-io/transport-node";
import type { Dispatch } from "@reeve/contracts/run";
import { DispatchSchema } from "@reeve/contracts/run";
import type { ForwardedToolCall } from "@reeve/contracts/toolhost";
import { ForwardedToolCallSchema } from "@reeve/contracts/toolhost";
import type { ToolCallRequest } from "@reeve/contracts/tool";
import { ToolCallRequestSchema } from "@reeve/contracts/tool";
import { channelOf } from "@reeve/contracts/channel";
import { storedReadOptions } from "@reeve/contracts/nesting";
import { placesOf } from "./capacity.ts";
import type { Capacity } from "./capacity.ts";
import { ensureConsumer } from "../streams/ensure-consumer.ts";
import { hostConsumerName } from "./host-consumer.ts";
import { pause } from "@reeve/platform/async/patiently";
import { QueueWriter } from "./queue-writer.ts";
import { traceparentHeader } from "@reeve/platform/telemetry/spans";
import { ensureStream, openManager } from "../streams/ensure-stream.ts";
import type { Delivery, WorkQueue } from "./port.ts";
import { countDelivery } from "./queue-metrics.ts";

/** How long a pull stands: a paused process must not swallow what is delivered again. */
const pullMs = 1_500;
const retryMs = 500;
/** Unsettled messages of all takers together. */
const maxHeld = 100_000;

/** How long a queue waits for a silent taker. */
export interface QueueTimeouts {
  readonly ackWaitMs: number;
  /** Whether the opener takes from the queue: only takers change the ack-wait of a queue that is there. */
  readonly isConsumer?: boolean;
}

interface QueueOptions<Schema extends DescMessage> extends QueueTimeouts {
  readonly schema: Schema;
  readonly tokens: Readonly<Record<string, string>>;
  readonly durable: string;
}

/** The queue of runs that want a worker. */
export function openDispatchQueue(
  { connection }: { readonly connection: NatsConnection },
  patience: QueueTimeouts,
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
  { pool, ...patience }: QueueTimeouts & { readonly pool: string },
): Promise<WorkQueue<ToolCallRequest>> {
  const tokens = { pool };
  return NatsQueue.open(connection, {
    schema: ToolCallRequestSchema,
    tokens,
    durable: pool,
    ...patience,
  });
}

/**
 * The queue of the calls that were sent on to one host of a pool. Whoever opens the queue of a host that is gone takes
 * what that host had taken, as another delivery of the very message.
 */
export function openHostQueue(
  { connection }: { readonly connection: NatsConnection },
  { pool, host, ...patience }: QueueTimeouts & { readonly pool: string; readonly host: string },
): Promise<WorkQueue<ForwardedToolCall>> {
  const tokens = { pool, host };
  return NatsQueue.open(connection, {
    schema: ForwardedToolCallSchema,
    tokens,
    durable: hostConsumerName(pool, host),
    ...patience,
  });
}

class NatsQueue<Schema extends DescMessage> implements WorkQueue<MessageShape<Schema>> {
  readonly #schema: Schema;
  readonly #writer: QueueWriter<Schema>;
  readonly #consumer: Consumer;
  /** Makes the consumer that somebody has taken away. */
  readonly #restore: () => Promise<void>;

  private constructor(
    schema: Schema,
    writer: QueueWriter<Schema>,
    consumer: Consumer,
    restore: () => Promise<void>,
  ) {
    this.#schema = schema;
    this.#writer = writer;
    this.#consumer = consumer;
    this.#restore = restore;
  }

  static async open<Schema extends DescMessage>(
    connection: NatsConnection,
    { schema, tokens, durable, ackWaitMs, isConsumer = false }: QueueOptions<Schema>,
  ): Promise<NatsQueue<Schema>> {
    const channel = channelOf(schema);
    const subject = channel.subject(tokens);
    const manager = await openManager(connection);
    const stream = await ensureStream(manager, channel);
    const config = {
      durable_name: durable,
      filter_subject: subject,
      ack_wait: nanos(ackWaitMs),
      max_ack_pending: maxHeld,
    };
    const ensure = () => ensureConsumer(manager, stream, config, { isConsumer });
    await ensure();
    const consumer = await jetstream(connection).consumers.get(stream, durable);
    const writer = new QueueWriter(connection, manager, { schema, stream, subject });
    return new NatsQueue(schema, writer, consumer, ensure);
  }

  publish(...given: Parameters<QueueWriter<Schema>["publish"]>): Promise<number> {
    return this.#writer.publish(...given);
  }

  holds(sequence: number, signal: AbortSignal): Promise<boolean> {
    return this.#writer.holds(sequence, signal);
  }

  async *take(
    places: number | Capacity,
    signal: AbortSignal,
  ): AsyncIterable<Delivery<MessageShape<Schema>>> {
    const capacity = placesOf(places);
    for (;;) {
      await capacity.waitForFree(signal);
      const messages = await this.#pull(capacity.free, signal);
      const stop = () => messages?.stop();
      signal.addEventListener("abort", stop, { once: true });
      if (signal.aborted) stop();
      try {
        for await (const message of messages ?? []) {
          const release = signal.aborted ? undefined : capacity.tryTake();
          if (release === undefined) message.nak();
          else {
            const content = this.#contentOf(message);
            countDelivery(this.#writer.subject, message.info.deliveryCount);
            if (content === undefined) release();
            else yield delivery(message, content, release);
          }
        }
      } catch {
        // A pull that breaks with its connection is simply made again.
        await this.#mend(signal);
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
      await this.#mend(signal);
      return undefined;
    }
  }

  async #mend(signal: AbortSignal): Promise<void> {
    await pause(retryMs, signal);
    // A store that is away is asked again after the next pull.
    await this.#restore().catch(() => undefined);
  }

  #contentOf(message: JsMsg): MessageShape<Schema> | undefined {
    try {
      return fromBinary(this.#schema, message.data, storedReadOptions);
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
    returnToQueue: (delayMs) => settle(() => message.nak(delayMs)),
    abandon: release,
  };
}
