import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { toBinary } from "@bufbuild/protobuf";
import type { JetStreamManager } from "@nats-io/jetstream";
import type { MsgHdrs, NatsConnection } from "@nats-io/transport-node";
import { headers } from "@nats-io/transport-node";
import { connectionStateOf } from "@reeve/platform/nats/connection-state";
import { patiently } from "@reeve/platform/async/patiently";
import { traceparentHeader, traceparentOf } from "@reeve/platform/telemetry/spans";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import { publicationSpan } from "./publication-span.ts";
import { StreamPublisher } from "../streams/stream-publisher.ts";
import { storeFailure } from "../streams/errors.ts";
import type { WorkQueue } from "./port.ts";

/** How long a publication waits for a store that is away. */
const patienceMs = 10_000;

/** Puts messages under one subject of a work queue. Nobody has to take from there. */
export class QueueWriter<Schema extends DescMessage> implements Pick<
  WorkQueue<MessageShape<Schema>>,
  "publish" | "holds"
> {
  readonly #connection: NatsConnection;
  readonly #manager: JetStreamManager;
  readonly #place: QueueSubject<Schema>;
  readonly #publisher: StreamPublisher;

  constructor(
    connection: NatsConnection,
    manager: JetStreamManager,
    place: QueueSubject<Schema>,
    publisher = new StreamPublisher(connection),
  ) {
    this.#connection = connection;
    this.#manager = manager;
    this.#place = place;
    this.#publisher = publisher;
  }

  get subject(): string {
    return this.#place.subject;
  }

  async publish(
    message: MessageShape<Schema>,
    { dedupeId }: { readonly dedupeId: string },
    signal: AbortSignal,
  ): Promise<number> {
    const { schema, subject } = this.#place;
    const data = toBinary(schema, message);
    // The id makes it harmless to publish again after an answer that was lost.
    const publish = async (described: MsgHdrs) => {
      const reply = await this.#publisher.publish(subject, data, described);
      if (reply.kind === "refused") throw storeFailure(reply.refusal);
      if (reply.kind === "unanswered") throw storeUnavailable();
      return reply.sequence;
    };
    return await publicationSpan(subject, async () => {
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

  async #look(sequence: number): Promise<boolean> {
    const { stream } = this.#place;
    const stored = () => this.#manager.direct.getMessage(stream, { seq: sequence });
    try {
      return (await connectionStateOf(this.#connection).whileConnected(stored)) !== null;
    } catch (error) {
      throw storeUnavailable(error);
    }
  }
}

/** Where messages of a queue lie. */
export interface QueueSubject<Schema extends DescMessage> {
  readonly schema: Schema;
  readonly stream: string;
  readonly subject: string;
}
