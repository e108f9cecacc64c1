import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { MsgHdrs, NatsConnection } from "@nats-io/transport-node";
import { headers } from "@nats-io/transport-node";
import { SpanKind } from "@opentelemetry/api";
import { retryUnavailable } from "@reeve/platform/async/retry/retry-unavailable";
import { sleep } from "@reeve/platform/async/sleep";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import { attributes } from "@reeve/platform/telemetry/span-names";
import { inChildSpan, traceparentHeader, traceparentOf } from "@reeve/platform/telemetry/spans";
import { storeFailure } from "../streams/errors.ts";
import type { StreamPlace } from "../streams/stream-messages.ts";
import { StreamMessages } from "../streams/stream-messages.ts";
import { StreamPublisher } from "../streams/stream-publisher.ts";
import type { WorkQueue } from "./port.ts";
import type { QueueFormat } from "./queue-codec.ts";
import { encodeQueued } from "./queue-codec.ts";

/** How long a request is retried while the store is unavailable. */
const retryLimits = { maxElapsedMs: 10_000 };
/** How long a server that has become the leader may lack messages that the stream has stored. */
const maxNewLeaderMs = 1_000;
const newLeaderPollMs = 50;

/** Publishes messages to one subject of a work queue, whether or not a taker exists. */
export class QueueWriter<Schema extends DescMessage> implements Pick<
  WorkQueue<MessageShape<Schema>>,
  "publish" | "holds"
> {
  readonly #connection: NatsConnection;
  readonly #queue: QueueSubject<Schema>;
  readonly #publisher: StreamPublisher;
  readonly #messages: StreamMessages;

  constructor(
    connection: NatsConnection,
    queue: QueueSubject<Schema>,
    publisher = new StreamPublisher(connection),
  ) {
    this.#connection = connection;
    this.#queue = queue;
    this.#publisher = publisher;
    this.#messages = new StreamMessages(connection, queue.stream);
  }

  get subject(): string {
    return this.#queue.subject;
  }

  async publish(
    message: MessageShape<Schema>,
    { dedupeId }: { readonly dedupeId: string },
    signal: AbortSignal,
  ): Promise<number> {
    const { subject, usesReserve = false } = this.#queue;
    // The id makes it safe to publish again after a lost answer.
    const publish = async (data: Uint8Array, messageHeaders: MsgHdrs) => {
      const outcome = await this.#publisher.publish(subject, data, messageHeaders, { usesReserve });
      if (outcome.kind === "refused") throw storeFailure(outcome.error);
      if (outcome.kind === "unanswered") throw storeUnavailable();
      return outcome.sequence;
    };
    return await inSendSpan(this.#queue, async () => {
      const messageHeaders = headers();
      messageHeaders.set("Nats-Msg-Id", dedupeId);
      const traceparent = traceparentOf();
      if (traceparent !== "") messageHeaders.set(traceparentHeader, traceparent);
      const queued = { subject, message, headers: messageHeaders };
      const data = await encodeQueued(this.#connection, this.#queue, queued, signal);
      return await retryUnavailable(() => publish(data, messageHeaders), retryLimits, signal);
    });
  }

  async holds(sequence: number, signal: AbortSignal): Promise<boolean> {
    // Sequences start at 1. The server rejects a query for another.
    if (sequence < 1) return false;
    const read = () => this.#messages.latest({ seq: sequence });
    if ((await retryUnavailable(read, retryLimits, signal)) !== undefined) return true;
    if (!this.#messages.isReplicated) return false;
    await this.#untilReached(sequence, signal);
    return (await retryUnavailable(read, retryLimits, signal)) !== undefined;
  }

  /** Waits until the leader has stored a sequence. Gives up on a sequence that the stream lost together with its end. */
  async #untilReached(sequence: number, signal: AbortSignal): Promise<void> {
    const deadline = performance.now() + maxNewLeaderMs;
    const last = () => this.#messages.lastSequence();
    while ((await retryUnavailable(last, retryLimits, signal)) < sequence) {
      if (performance.now() >= deadline) return;
      await sleep(newLeaderPollMs, signal);
    }
  }
}

/** Where the messages of a queue are stored. */
interface QueueSubject<Schema extends DescMessage> extends QueueFormat<Schema> {
  readonly stream: StreamPlace;
  readonly subject: string;
  /** The name of the queue in traces. Default: the subject. */
  readonly name?: string;
  /** Whether messages may use the reserve of a full store. Default: no. */
  readonly usesReserve?: boolean;
}

/** Runs a publication in a span, if it belongs to a trace. */
function inSendSpan<Result>(
  { subject, name = subject }: Pick<QueueSubject<DescMessage>, "subject" | "name">,
  publish: () => Promise<Result>,
): Promise<Result> {
  const options = {
    kind: SpanKind.PRODUCER,
    attributes: {
      [attributes.messagingSystem]: "nats",
      [attributes.messagingDestination]: subject,
      [attributes.messagingOperation]: "send",
    },
  };
  return inChildSpan(`send ${name}`, options, publish);
}
