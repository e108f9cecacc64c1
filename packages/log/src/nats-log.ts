import { randomBytes } from "node:crypto";
import type { DescMessage } from "@bufbuild/protobuf";
import { toBinary } from "@bufbuild/protobuf";
import type { MsgHdrs, NatsConnection } from "@nats-io/transport-node";
import { headers } from "@nats-io/transport-node";
import { ErrorReason } from "@reeve/contracts/error";
import type { ChannelOf } from "@reeve/contracts/channel";
import { channelOf } from "@reeve/contracts/channel";
import { Failure } from "@reeve/platform/failure";
import { followSubject } from "./follow-subject.ts";
import type { Appended, Log, Stretch, Tail } from "./log.ts";
import type { LogDefinition } from "./log-definition.ts";
import type { PublishReply, StreamPublisher } from "./publisher.ts";
import { publisherOf } from "./publisher.ts";
import { failureOfRefusal, isConflict, unanswered } from "./store-failure.ts";
import type { StoredBatch } from "./stored-batch.ts";
import { batchHeaders, eventsAfter } from "./stored-batch.ts";
import { SubjectReader } from "./subject-reader.ts";

/** How often an append whose outcome is unknown is made again. */
const mostAttempts = 3;

/**
 * Logs in JetStream: one subject per key, one message per batch. The stream compares the sequence of the subject's last
 * message before it stores another, which makes an append a compare-and-append.
 */
export class NatsLog<Key, Event, Schema extends DescMessage> implements Log<Key, Event> {
  readonly #connection: NatsConnection;
  readonly #definition: LogDefinition<Key, Event, Schema>;
  readonly #channel: ChannelOf;
  readonly #reader: SubjectReader;
  readonly #publisher: StreamPublisher;

  private constructor(
    connection: NatsConnection,
    definition: LogDefinition<Key, Event, Schema>,
    channel: ChannelOf,
    reader: SubjectReader,
  ) {
    this.#connection = connection;
    this.#definition = definition;
    this.#channel = channel;
    this.#reader = reader;
    this.#publisher = publisherOf(connection);
  }

  /** Opens the stream that the definition's message declares, and makes it where it is missing. */
  static async open<Key, Event, Schema extends DescMessage>(
    connection: NatsConnection,
    definition: LogDefinition<Key, Event, Schema>,
  ): Promise<NatsLog<Key, Event, Schema>> {
    const channel = channelOf(definition.schema);
    return new NatsLog(
      connection,
      definition,
      channel,
      await SubjectReader.open(connection, channel),
    );
  }

  async append(
    key: Key,
    tail: Tail,
    events: readonly Event[],
    signal: AbortSignal,
  ): Promise<Appended> {
    const { schema, batch, kinds } = this.#definition;
    const subject = this.#subject(key);
    const write = randomBytes(12).toString("base64url");
    const sequence = tail.sequence + events.length;
    const data = toBinary(schema, batch(tail.sequence + 1, events));
    const described = headers();
    described.set("Nats-Expected-Last-Subject-Sequence", String(tail.revision));
    described.set(batchHeaders.first, String(tail.sequence + 1));
    described.set(batchHeaders.last, String(sequence));
    described.set(batchHeaders.kinds, kinds(events).join(","));
    described.set(batchHeaders.write, write);
    this.#refuseOversized(subject, data);
    for (let attempt = 1; attempt <= mostAttempts; attempt++) {
      signal.throwIfAborted();
      const reply = await this.#publish(subject, data, described);
      if (reply.kind === "stored") {
        return { kind: "appended", tail: { sequence, revision: reply.sequence } };
      }
      const conflict = reply.kind === "refused" && isConflict(reply.refusal);
      if (conflict && attempt === 1) return { kind: "conflict" };
      if (reply.kind === "refused" && !conflict) throw failureOfRefusal(reply.refusal);
      // The outcome of an earlier attempt is unknown: whoever follows the tail in the log tells.
      const next = await this.#reader.next(subject, tail.revision);
      if (next?.write === write) {
        return { kind: "appended", tail: { sequence, revision: next.revision } };
      }
      if (next !== undefined) return { kind: "conflict" };
    }
    throw unanswered();
  }

  async read(key: Key, tail: Tail, signal: AbortSignal): Promise<Stretch<Event>> {
    signal.throwIfAborted();
    const subject = this.#subject(key);
    const batches = await this.#reader.after(subject, tail.revision, signal);
    return this.#stretch(subject, tail, batches);
  }

  follow(key: Key, afterSequence: number, signal: AbortSignal): AsyncIterable<Stretch<Event>> {
    const subject = this.#subject(key);
    const source = {
      connection: this.#connection,
      liveSubject: this.#channel.liveSubject(this.#definition.tokens(key)),
      last: () => this.#reader.last(subject),
      stretch: (tail: Tail, batch: StoredBatch) => this.#stretch(subject, tail, [batch]),
      read: (tail: Tail) => this.read(key, tail, signal),
    };
    return followSubject(source, afterSequence, signal);
  }

  #subject(key: Key): string {
    return this.#channel.subject(this.#definition.tokens(key));
  }

  #publish(subject: string, data: Uint8Array, described: MsgHdrs): Promise<PublishReply> {
    return this.#publisher.publish(subject, data, described);
  }

  #refuseOversized(subject: string, data: Uint8Array): void {
    // Headers count too; they are far below a kilobyte.
    const most = (this.#connection.info?.max_payload ?? 1024 * 1024) - 1024;
    if (data.length <= most) return;
    throw new Failure(
      "exhausted",
      ErrorReason.TOO_LARGE,
      `a batch of ${data.length} bytes for ${subject} is over the ${most} that the store takes; pass large content as an artifact`,
    );
  }

  #stretch(subject: string, tail: Tail, batches: readonly StoredBatch[]): Stretch<Event> {
    const events: Event[] = [];
    let { sequence, revision } = tail;
    for (const batch of batches) {
      if (batch.first > sequence + 1) {
        throw new Error(`${subject} has a hole: after ${sequence} comes ${batch.first}`);
      }
      if (batch.last > sequence) {
        events.push(...eventsAfter(this.#definition, batch, sequence));
        ({ last: sequence } = batch);
      }
      revision = Math.max(revision, batch.revision);
    }
    return { events, tail: { sequence, revision } };
  }
}
