import { randomBytes } from "node:crypto";
import type { DescMessage } from "@bufbuild/protobuf";
import { toBinary } from "@bufbuild/protobuf";
import type { MsgHdrs, NatsConnection } from "@nats-io/transport-node";
import { headers } from "@nats-io/transport-node";
import { ErrorReason } from "@reeve/contracts/error";
import type { ChannelTemplate } from "@reeve/contracts/channel";
import { channelOf } from "@reeve/contracts/channel";
import { Failure } from "@reeve/platform/failure";
import type { StoredRange } from "./follow-subject.ts";
import { followSubject } from "./follow-subject.ts";
import type { AppendOutcome, Log, TailReader, EventRange, Tail } from "./port.ts";
import { emptyTail } from "./port.ts";
import type { LogDefinition } from "./definitions.ts";
import { patiently } from "@reeve/platform/async/patiently";
import { batchTooLarge, maxDataBytes } from "../streams/payload-limit.ts";
import { StreamPublisher } from "../streams/stream-publisher.ts";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import { isConflict, storeFailure } from "../streams/errors.ts";
import type { StoredBatch } from "./stored-batch.ts";
import { batchHeaders, eventsAfter, expectedLastHeader } from "./stored-batch.ts";
import { SubjectReader } from "./subject-reader.ts";

/** What a follower reads at a time of a log that is far ahead: it may be slow, and there may be many. */
const partBytes = 4 * 1024 * 1024;
/** How often an append whose outcome is unknown is made again. */
const maxAttempts = 4;

export interface NatsLogOptions {
  /** How long a followed log may be quiet before its stored tail is looked at. */
  readonly tailCheckMs?: number;
  /** How long a call waits for a store that is away. */
  readonly maxRetryMs?: number;
}

/**
 * Logs in JetStream: one subject per key, one message per batch. The stream compares the sequence of the subject's last
 * message before it stores another, which makes an append a compare-and-append.
 */
export class NatsLog<Key, Event, Schema extends DescMessage>
  implements Log<Key, Event>, TailReader<Key, Event>
{
  readonly #connection: NatsConnection;
  readonly #definition: LogDefinition<Key, Event, Schema>;
  readonly #channel: ChannelTemplate;
  readonly #reader: SubjectReader;
  readonly #publisher: StreamPublisher;
  readonly #quietMs: number;
  readonly #patienceMs: number;
  /** With a number, the name of a write that no other log gives. */
  readonly #writer = randomBytes(12).toString("base64url");
  #writes = 0;

  private constructor(
    connection: NatsConnection,
    definition: LogDefinition<Key, Event, Schema>,
    reader: SubjectReader,
    { tailCheckMs = 3_000, maxRetryMs = 10_000 }: NatsLogOptions,
  ) {
    this.#connection = connection;
    this.#definition = definition;
    this.#channel = channelOf(definition.schema);
    this.#reader = reader;
    this.#publisher = new StreamPublisher(connection);
    this.#quietMs = tailCheckMs;
    this.#patienceMs = maxRetryMs;
  }

  /** Opens the stream that the definition's message declares, and makes it where it is missing. */
  static async open<Key, Event, Schema extends DescMessage>(
    connection: NatsConnection,
    definition: LogDefinition<Key, Event, Schema>,
    options: NatsLogOptions = {},
  ): Promise<NatsLog<Key, Event, Schema>> {
    const reader = await SubjectReader.open(connection, channelOf(definition.schema));
    return new NatsLog(connection, definition, reader, options);
  }

  async append(
    key: Key,
    tail: Tail,
    events: readonly Event[],
    signal: AbortSignal,
  ): Promise<AppendOutcome> {
    const subject = this.#subject(key);
    const write = `${this.#writer}-${++this.#writes}`;
    const sequence = tail.sequence + events.length;
    const data = toBinary(
      this.#definition.schema,
      this.#definition.batch(tail.sequence + 1, events),
    );
    const described = this.#describe(tail, events, write);
    this.#refuseOversized(subject, data);
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      signal.throwIfAborted();
      const reply = await this.#publisher.publish(subject, data, described);
      if (reply.kind === "stored") {
        return { kind: "appended", tail: { sequence, revision: reply.sequence } };
      }
      const conflict = reply.kind === "refused" && isConflict(reply.refusal);
      if (conflict && attempt === 1) return { kind: "conflict" };
      if (reply.kind === "refused" && !conflict) throw storeFailure(reply.refusal);
      // The outcome of an earlier attempt is unknown: whoever follows the tail in the log tells.
      const look = () => this.#reader.next(subject, tail.revision);
      const next = await patiently(look, this.#patienceMs, signal);
      if (next?.write === write) {
        return { kind: "appended", tail: { sequence, revision: next.revision } };
      }
      if (next !== undefined) return { kind: "conflict" };
    }
    throw storeUnavailable();
  }

  async read(key: Key, tail: Tail, signal: AbortSignal): Promise<EventRange<Event>> {
    const all = () => this.#readPart(this.#subject(key), tail, Infinity, signal);
    const { isComplete: _, ...stretch } = await patiently(all, this.#patienceMs, signal);
    return stretch;
  }

  async last(key: Key, signal: AbortSignal): Promise<EventRange<Event>> {
    const ask = () => this.#reader.last(this.#subject(key));
    const batch = await patiently(ask, this.#patienceMs, signal);
    if (batch === undefined) return { events: [], tail: emptyTail };
    const events = eventsAfter(this.#definition, batch, 0);
    return { events, tail: { sequence: batch.last, revision: batch.revision } };
  }

  follow(key: Key, after: number | Tail, signal: AbortSignal): AsyncIterable<EventRange<Event>> {
    const subject = this.#subject(key);
    const afterSequence = typeof after === "number" ? after : after.sequence;
    const followed = {
      connection: this.#connection,
      liveSubject: this.#channel.liveSubject(this.#definition.tokens(key)),
      tailCheckMs: this.#quietMs,
      readFirst: () =>
        typeof after === "number"
          ? this.#readAfter(subject, after, signal)
          : this.#readPart(subject, after, partBytes, signal),
      read: (tail: Tail) => this.#readPart(subject, tail, partBytes, signal),
      rangeOf: (tail: Tail, batches: readonly StoredBatch[]) =>
        this.#stretch(subject, tail, batches),
    };
    return followSubject(followed, afterSequence, signal);
  }

  #subject(key: Key): string {
    return this.#channel.subject(this.#definition.tokens(key));
  }

  #describe({ sequence, revision }: Tail, events: readonly Event[], write: string): MsgHdrs {
    const described = headers();
    described.set(expectedLastHeader, String(revision));
    described.set(batchHeaders.first, String(sequence + 1));
    described.set(batchHeaders.last, String(sequence + events.length));
    described.set(batchHeaders.kinds, this.#definition.kinds(events).join(","));
    described.set(batchHeaders.write, write);
    return described;
  }

  async #readPart(
    subject: string,
    tail: Tail,
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<StoredRange<Event>> {
    const { batches, isComplete } = await this.#reader.after(subject, tail, maxBytes, signal);
    return { ...this.#stretch(subject, tail, batches), isComplete };
  }

  /** A reader who knows only a sequence mostly has all but the last batch. */
  async #readAfter(
    subject: string,
    afterSequence: number,
    signal: AbortSignal,
  ): Promise<StoredRange<Event>> {
    const last = afterSequence === 0 ? undefined : await this.#reader.last(subject);
    if (last === undefined || last.first > afterSequence + 1) {
      return this.#readPart(subject, emptyTail, partBytes, signal);
    }
    const before = { sequence: last.first - 1, revision: 0 };
    return { ...this.#stretch(subject, before, [last]), isComplete: true };
  }

  #refuseOversized(subject: string, data: Uint8Array): void {
    const maxBytes = maxDataBytes(this.#connection);
    if (data.length > maxBytes) throw batchTooLarge(subject, data.length, maxBytes);
  }

  #stretch(subject: string, tail: Tail, batches: readonly StoredBatch[]): EventRange<Event> {
    const events: Event[] = [];
    let { sequence, revision } = tail;
    for (const batch of batches) {
      if (batch.first > sequence + 1) {
        throw new Failure(
          "internal",
          ErrorReason.INTERNAL,
          `${subject} has a hole: after ${sequence} comes ${batch.first}`,
        );
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
