import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { toBinary } from "@bufbuild/protobuf";
import type { JetStreamManager } from "@nats-io/jetstream";
import type { MsgHdrs, NatsConnection } from "@nats-io/transport-node";
import { headers } from "@nats-io/transport-node";
import { SpanKind } from "@opentelemetry/api";
import { retryUnavailable } from "@reeve/platform/async/retry/retry-unavailable";
import { connectionStateOf } from "@reeve/platform/nats/connection-state";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import { attributes } from "@reeve/platform/telemetry/span-names";
import { inChildSpan, traceparentHeader, traceparentOf } from "@reeve/platform/telemetry/spans";
import { storeFailure } from "../streams/errors.ts";
import { StreamPublisher } from "../streams/stream-publisher.ts";
import type { WorkQueue } from "./port.ts";

/** How long a request is retried while the store is unavailable. */
const retryLimits = { maxElapsedMs: 10_000 };

/** Publishes messages to one subject of a work queue, whether or not a taker exists. */
export class QueueWriter<Schema extends DescMessage> implements Pick<
  WorkQueue<MessageShape<Schema>>,
  "publish" | "holds"
> {
  readonly #connection: NatsConnection;
  readonly #manager: JetStreamManager;
  readonly #queue: QueueSubject<Schema>;
  readonly #publisher: StreamPublisher;

  constructor(
    connection: NatsConnection,
    manager: JetStreamManager,
    queue: QueueSubject<Schema>,
    publisher = new StreamPublisher(connection),
  ) {
    this.#connection = connection;
    this.#manager = manager;
    this.#queue = queue;
    this.#publisher = publisher;
  }

  get subject(): string {
    return this.#queue.subject;
  }

  async publish(
    message: MessageShape<Schema>,
    { dedupeId }: { readonly dedupeId: string },
    signal: AbortSignal,
  ): Promise<number> {
    const { schema, subject } = this.#queue;
    const data = toBinary(schema, message);
    // The id makes it safe to publish again after a lost answer.
    const publish = async (messageHeaders: MsgHdrs) => {
      const outcome = await this.#publisher.publish(subject, data, messageHeaders);
      if (outcome.kind === "refused") throw storeFailure(outcome.error);
      if (outcome.kind === "unanswered") throw storeUnavailable();
      return outcome.sequence;
    };
    return await inSendSpan(subject, async () => {
      const messageHeaders = headers();
      messageHeaders.set("Nats-Msg-Id", dedupeId);
      const traceparent = traceparentOf();
      if (traceparent !== "") messageHeaders.set(traceparentHeader, traceparent);
      return await retryUnavailable(() => publish(messageHeaders), retryLimits, signal);
    });
  }

  async holds(sequence: number, signal: AbortSignal): Promise<boolean> {
    return await retryUnavailable(() => this.#exists(sequence), retryLimits, signal);
  }

  async #exists(sequence: number): Promise<boolean> {
    const { stream } = this.#queue;
    const read = () => this.#manager.direct.getMessage(stream, { seq: sequence });
    try {
      return (await connectionStateOf(this.#connection).whileConnected(read)) !== null;
    } catch (error) {
      throw storeUnavailable(error);
    }
  }
}

/** Where the messages of a queue are stored. */
interface QueueSubject<Schema extends DescMessage> {
  readonly schema: Schema;
  readonly stream: string;
  readonly subject: string;
}

/** Runs a publication in a span, if it belongs to a trace. */
function inSendSpan<Result>(subject: string, publish: () => Promise<Result>): Promise<Result> {
  const options = {
    kind: SpanKind.PRODUCER,
    attributes: {
      [attributes.messagingSystem]: "nats",
      [attributes.messagingDestination]: subject,
      [attributes.messagingOperation]: "send",
    },
  };
  return inChildSpan(`send ${subject}`, options, publish);
}
