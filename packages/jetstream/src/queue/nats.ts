import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { fromBinary } from "@bufbuild/protobuf";
import type { Consumer, ConsumerMessages, JsMsg } from "@nats-io/jetstream";
import { jetstream } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { nanos } from "@nats-io/transport-node";
import { channelOf } from "@reeve/contracts/channel";
import { storedReadOptions } from "@reeve/contracts/nesting";
import type { Dispatch } from "@reeve/contracts/run";
import { DispatchSchema } from "@reeve/contracts/run";
import type { ToolCallRequest } from "@reeve/contracts/tool";
import { ToolCallRequestSchema } from "@reeve/contracts/tool";
import type { ForwardedToolCall } from "@reeve/contracts/toolhost";
import { ForwardedToolCallSchema } from "@reeve/contracts/toolhost";
import { Semaphore } from "@reeve/platform/async/coordination/semaphore";
import { onAbort } from "@reeve/platform/async/on-abort";
import { sleep } from "@reeve/platform/async/sleep";
import { traceparentHeader } from "@reeve/platform/telemetry/spans";
import { ensureConsumer } from "../streams/ensure-consumer.ts";
import { ensureStream, openJetStreamManager } from "../streams/ensure-stream.ts";
import { hostConsumerName } from "./host-consumer.ts";
import type { Delivery, WorkQueue } from "./port.ts";
import { countDelivery } from "./queue-metrics.ts";
import { QueueWriter } from "./queue-writer.ts";

/** How long a pull waits for messages. Short, so that the pull of a paused process does not swallow redeliveries. */
const pullMs = 1_500;
const retryMs = 500;
/** Upper limit of unsettled messages, over all takers of a queue. */
const maxUnsettled = 100_000;

/** How long a queue waits for a silent taker. */
interface QueueTimeouts {
  readonly ackWaitMs: number;
  /** Whether the caller takes from the queue. Only takers change the ack-wait of an existing queue. Default: false. */
  readonly isConsumer?: boolean;
}

interface QueueOptions<Schema extends DescMessage> extends QueueTimeouts {
  readonly schema: Schema;
  readonly tokens: Readonly<Record<string, string>>;
  readonly durable: string;
}

/** Opens the queue of runs that need a worker. */
export function openDispatchQueue(
  { connection }: { readonly connection: NatsConnection },
  timeouts: QueueTimeouts,
): Promise<WorkQueue<Dispatch>> {
  return NatsQueue.open(connection, {
    schema: DispatchSchema,
    tokens: {},
    durable: "runtime",
    ...timeouts,
  });
}

/** Opens the queue of calls for a pool of toolhosts. */
export function openToolCallQueue(
  { connection }: { readonly connection: NatsConnection },
  { pool, ...timeouts }: QueueTimeouts & { readonly pool: string },
): Promise<WorkQueue<ToolCallRequest>> {
  return NatsQueue.open(connection, {
    schema: ToolCallRequestSchema,
    tokens: { pool },
    durable: pool,
    ...timeouts,
  });
}

/**
 * Opens the queue of the calls that were forwarded to one host of a pool. A host that opens the queue of a dead host
 * receives the calls that the dead host had taken, as further deliveries of the same messages.
 */
export function openHostQueue(
  { connection }: { readonly connection: NatsConnection },
  { pool, host, ...timeouts }: QueueTimeouts & { readonly pool: string; readonly host: string },
): Promise<WorkQueue<ForwardedToolCall>> {
  return NatsQueue.open(connection, {
    schema: ForwardedToolCallSchema,
    tokens: { pool, host },
    durable: hostConsumerName(pool, host),
    ...timeouts,
  });
}

class NatsQueue<Schema extends DescMessage> implements WorkQueue<MessageShape<Schema>> {
  readonly #schema: Schema;
  readonly #writer: QueueWriter<Schema>;
  readonly #consumer: Consumer;
  /** Creates the consumer again if it was removed. */
  readonly #restoreConsumer: () => Promise<void>;

  private constructor(
    schema: Schema,
    writer: QueueWriter<Schema>,
    consumer: Consumer,
    restoreConsumer: () => Promise<void>,
  ) {
    this.#schema = schema;
    this.#writer = writer;
    this.#consumer = consumer;
    this.#restoreConsumer = restoreConsumer;
  }

  static async open<Schema extends DescMessage>(
    connection: NatsConnection,
    { schema, tokens, durable, ackWaitMs, isConsumer = false }: QueueOptions<Schema>,
  ): Promise<NatsQueue<Schema>> {
    const channel = channelOf(schema);
    const subject = channel.subject(tokens);
    const manager = await openJetStreamManager(connection);
    const stream = await ensureStream(manager, channel);
    const config = {
      durable_name: durable,
      filter_subject: subject,
      ack_wait: nanos(ackWaitMs),
      max_ack_pending: maxUnsettled,
    };
    const ensure = () => ensureConsumer(manager, stream, config, { isConsumer });
    await ensure();
    const consumer = await jetstream(connection).consumers.get(stream, durable);
    const writer = new QueueWriter(connection, manager, { schema, stream, subject });
    return new NatsQueue(schema, writer, consumer, ensure);
  }

  publish(...args: Parameters<QueueWriter<Schema>["publish"]>): Promise<number> {
    return this.#writer.publish(...args);
  }

  holds(sequence: number, signal: AbortSignal): Promise<boolean> {
    return this.#writer.holds(sequence, signal);
  }

  async *take(
    permits: number | Semaphore,
    signal: AbortSignal,
  ): AsyncIterable<Delivery<MessageShape<Schema>>> {
    const semaphore = typeof permits === "number" ? new Semaphore(permits) : permits;
    for (;;) {
      // Holds no permit during a pull: an empty pull would keep it from the other queues that share the semaphore.
      await semaphore.untilAvailable(signal);
      const messages = await this.#pull(semaphore.available, signal);
      const stop = () => messages?.stop();
      using _ = onAbort(signal, stop);
      try {
        for await (const message of messages ?? []) {
          const permit = signal.aborted ? undefined : semaphore.tryAcquire();
          if (permit === undefined) message.nak();
          else {
            const content = this.#contentOf(message);
            countDelivery(this.#writer.subject, message.info.deliveryCount);
            if (content === undefined) permit[Symbol.dispose]();
            else yield delivery(message, content, permit);
          }
        }
      } catch {
        // A pull that ends with its connection is repeated.
        await this.#recover(signal);
      } finally {
        stop();
      }
      signal.throwIfAborted();
    }
  }

  async #pull(maxMessages: number, signal: AbortSignal): Promise<ConsumerMessages | undefined> {
    try {
      return await this.#consumer.fetch({ max_messages: maxMessages, expires: pullMs });
    } catch {
      await this.#recover(signal);
      return undefined;
    }
  }

  async #recover(signal: AbortSignal): Promise<void> {
    await sleep(retryMs, signal);
    // While the store is unavailable this fails; the next failed pull tries again.
    await this.#restoreConsumer().catch(() => undefined);
  }

  #contentOf(message: JsMsg): MessageShape<Schema> | undefined {
    try {
      return fromBinary(this.#schema, message.data, storedReadOptions);
    } catch {
      // It would be redelivered forever, and no taker could read it.
      message.term(`not a ${this.#schema.typeName}`);
      return undefined;
    }
  }
}

function delivery<Message>(
  message: JsMsg,
  content: Message,
  permit: Disposable,
): Delivery<Message> {
  const release = () => permit[Symbol.dispose]();
  const settle = (send: () => void) => {
    release();
    send();
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
