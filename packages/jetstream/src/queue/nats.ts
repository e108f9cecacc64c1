import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { Consumer, ConsumerMessages, JsMsg } from "@nats-io/jetstream";
import { jetstream } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { nanos } from "@nats-io/transport-node";
import { channelOf } from "@reeve/contracts/channel";
import type { Notification } from "@reeve/contracts/notification";
import { NotificationSchema } from "@reeve/contracts/notification";
import type { ToolCallRequest } from "@reeve/contracts/tool";
import { ToolCallRequestSchema } from "@reeve/contracts/tool";
import type { ForwardedToolCall } from "@reeve/contracts/toolhost";
import { ForwardedToolCallSchema } from "@reeve/contracts/toolhost";
import { Semaphore } from "@reeve/platform/async/coordination/semaphore";
import { onAbort } from "@reeve/platform/async/on-abort";
import { every } from "@reeve/platform/async/every";
import { sleep } from "@reeve/platform/async/sleep";
import { bootClock } from "@reeve/platform/async/boot-clock";
import { ensureConsumer, untilConsumerIsReady } from "../streams/ensure-consumer.ts";
import { ensureStream, openJetStreamManager } from "../streams/ensure-stream.ts";
import { DeliveryLease } from "./delivery-lease.ts";
import { hostConsumerName } from "./host-consumer.ts";
import { pullGraceMs, pullMs } from "./lanes/pull.ts";
import type { DeliveryHold } from "./nats-delivery.ts";
import { ackSubjectOf, natsDelivery } from "./nats-delivery.ts";
import type { Delivery, WorkQueue } from "./port.ts";
import type { QueueHolder } from "./queue-holder.ts";
import { countDelivery } from "./queue-metrics.ts";
import type { QueueFormat } from "./queue-codec.ts";
import { decodeQueued } from "./queue-codec.ts";
import { QueueWriter } from "./queue-writer.ts";

/** Pause before a pull that failed is repeated. */
export const retryMs = 500;
/** Interval between two checks of the consumer. A process of an older version may set a shorter ack-wait when it starts. */
export const checkMs = 5_000;
/** Upper limit of unsettled messages, over all takers of a queue. */
export const maxUnsettled = 100_000;

/** How long a queue waits for a silent taker. */
export interface QueueTimeouts {
  readonly ackWaitMs: number;
  /** Whether the caller takes from the queue. Only takers raise the ack-wait of an existing queue. Default: false. */
  readonly isConsumer?: boolean;
  /** This process as a taker. Without it, the messages that it holds wait for the ack-wait when it dies. */
  readonly holder?: Pick<QueueHolder, "hold"> | undefined;
}

/** Returns the tenant of a forwarded call. */
export function tenantOfForwarded({ request }: ForwardedToolCall): string {
  return request?.tenant ?? "";
}

interface QueueOptions<Schema extends DescMessage> extends QueueTimeouts, QueueFormat<Schema> {
  readonly tokens: Readonly<Record<string, string>>;
  readonly durable: string;
}

/** Opens the queue of calls for a pool of toolhosts. */
export function openToolCallQueue(
  { connection }: { readonly connection: NatsConnection },
  { pool, ...timeouts }: QueueTimeouts & { readonly pool: string },
): Promise<WorkQueue<ToolCallRequest>> {
  return NatsQueue.open(connection, {
    schema: ToolCallRequestSchema,
    tenantOf: ({ tenant }) => tenant,
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
    tenantOf: tenantOfForwarded,
    tokens: { pool, host },
    durable: hostConsumerName(pool, host),
    ...timeouts,
  });
}

/**
 * Opens the queue of notifications for one receiver, so that a receiver which does not answer delays no other. Work continues
 * without notifications: they do not use the reserve of a full store, and who publishes them repeats what it refuses.
 */
export function openNotificationQueue(
  { connection }: { readonly connection: NatsConnection },
  { receiver, ...timeouts }: QueueTimeouts & { readonly receiver: string },
): Promise<WorkQueue<Notification>> {
  return NatsQueue.open(connection, {
    schema: NotificationSchema,
    tenantOf: ({ tenant }) => tenant,
    tokens: { receiver },
    durable: receiver,
    ...timeouts,
  });
}

interface OpenQueue<Schema extends DescMessage> extends QueueOptions<Schema> {
  readonly stream: string;
  readonly consumer: Consumer;
  /** Creates the consumer again if it was removed, and raises its ack-wait again if another process lowered it. */
  readonly restoreConsumer: () => Promise<void>;
}

class NatsQueue<Schema extends DescMessage> implements WorkQueue<MessageShape<Schema>> {
  readonly #connection: NatsConnection;
  readonly #writer: QueueWriter<Schema>;
  readonly #queue: OpenQueue<Schema>;

  private constructor(
    connection: NatsConnection,
    writer: QueueWriter<Schema>,
    queue: OpenQueue<Schema>,
  ) {
    this.#connection = connection;
    this.#writer = writer;
    this.#queue = queue;
  }

  static async open<Schema extends DescMessage>(
    connection: NatsConnection,
    options: QueueOptions<Schema>,
  ): Promise<NatsQueue<Schema>> {
    const { schema, tenantOf, tokens, durable, ackWaitMs, isConsumer = false } = options;
    const channel = channelOf(schema);
    const subject = channel.subject(tokens);
    const manager = await openJetStreamManager(connection);
    const stream = await ensureStream(connection, manager, channel);
    const config = {
      durable_name: durable,
      filter_subject: subject,
      ack_wait: nanos(ackWaitMs),
      max_ack_pending: maxUnsettled,
    };
    const restoreConsumer = () => ensureConsumer(manager, stream.name, config, { isConsumer });
    const consumer = await untilConsumerIsReady(connection, durable, async () => {
      await restoreConsumer();
      return await jetstream(connection).consumers.get(stream.name, durable);
    });
    const writer = new QueueWriter(connection, { schema, tenantOf, stream, subject });
    return new NatsQueue(connection, writer, {
      ...options,
      stream: stream.name,
      consumer,
      restoreConsumer,
    });
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
    using _ = every(checkMs, () => void this.#queue.restoreConsumer().catch(() => undefined));
    for (;;) {
      // Holds no permit during a pull: an empty pull would keep it from the other queues that share the semaphore.
      await semaphore.untilAvailable(signal);
      const pulledAt = bootClock.now();
      const messages = await this.#pull(semaphore.available, signal);
      const stop = () => messages?.stop();
      using _ = onAbort(signal, stop);
      try {
        for await (const message of messages ?? []) {
          const permit = signal.aborted ? undefined : semaphore.tryAcquire();
          if (permit === undefined) message.nak();
          else {
            const content = await decodeQueued(this.#connection, this.#queue, message, signal);
            countDelivery(this.#writer.subject, message.info.deliveryCount);
            if (content === undefined) permit[Symbol.dispose]();
            else yield natsDelivery(message, content, this.#hold(message, permit, pulledAt));
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
      return await this.#queue.consumer.fetch({ max_messages: maxMessages, expires: pullMs });
    } catch {
      await this.#recover(signal);
      return undefined;
    }
  }

  async #recover(signal: AbortSignal): Promise<void> {
    await sleep(retryMs, signal);
    // While the store is unavailable this fails; the next failed pull tries again.
    await this.#queue.restoreConsumer().catch(() => undefined);
  }

  #hold(message: JsMsg, permit: Disposable, pulledAt: number): DeliveryHold {
    const { stream, durable, ackWaitMs, holder } = this.#queue;
    const now = bootClock.now();
    // A process that stood still finds messages that may have been delivered at any time since its pull.
    const sinceMs = now - pulledAt > pullMs + pullGraceMs ? pulledAt : now;
    const terms = { ackSubject: ackSubjectOf(message), ackWaitMs, sinceMs };
    const lease = new DeliveryLease(this.#connection, terms);
    const { streamSequence } = message.info;
    const held = holder?.hold({ stream, consumer: durable, sequence: streamSequence }, lease);
    return {
      lease,
      [Symbol.dispose]() {
        held?.[Symbol.dispose]();
        permit[Symbol.dispose]();
      },
    };
  }
}
