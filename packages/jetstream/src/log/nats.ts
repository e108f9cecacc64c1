import { randomBytes } from "node:crypto";
import type { DescMessage } from "@bufbuild/protobuf";
import type { NatsConnection } from "@nats-io/transport-node";
import type { ChannelTemplate } from "@reeve/contracts/channel";
import { abortable } from "@reeve/platform/async/abortable";
import { SharedRuns } from "@reeve/platform/async/coordination/shared-runs";
import { retryUnavailable } from "@reeve/platform/async/retry/retry-unavailable";
import { sleep } from "@reeve/platform/async/sleep";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import { ArchivedReader } from "./archive/archived-reader.ts";
import { archivesOf } from "./archive/log-archives.ts";
import { isClosed } from "./archive/marker.ts";
import { isKeysUnavailable } from "../sealing/key-failures.ts";
import type { PayloadCipher } from "../sealing/payload-cipher.ts";
import { payloadCipherOf } from "../sealing/payload-cipher.ts";
import { isConflict, storeFailure } from "../streams/errors.ts";
import { batchTooLarge, maxDataBytes } from "../streams/payload-limit.ts";
import { assertKeepsReplicas } from "../streams/replication-support.ts";
import type { OpenShard } from "../streams/shards/open-shards.ts";
import { StreamPublisher } from "../streams/stream-publisher.ts";
import type { LogDefinition } from "./definitions.ts";
import type { FollowSource } from "./follow/follow-subject.ts";
import { followSubject } from "./follow/follow-subject.ts";
import type { LiveSource } from "./follow/live-batches.ts";
import { LiveBatches } from "./follow/live-batches.ts";
import { liveHubOf } from "./follow/live-hub.ts";
import { sourceOfLog } from "./follow/source-of-log.ts";
import type {
  AppendOutcome,
  BatchReader,
  EventRange,
  Log,
  LogListener,
  LogPart,
  PartReader,
  LogRemover,
  SettledLog,
  Tail,
  TailReader,
} from "./port.ts";
import { emptyTail } from "./port.ts";
import { encodeBatch } from "./sealed-batch.ts";
import type { StoredBatch } from "./stored-batch.ts";
import { batchFromHeaders, contentOf, headersOfBatch, tailAfter } from "./stored-batch.ts";
import { RangeReader } from "./reading/range-reader.ts";
import type { ReaderOptions } from "./reading/subject-reader.ts";
import { SubjectReader } from "./reading/subject-reader.ts";

/** What is read at a time of a log as it is stored. */
const rawBytes = 4 * 1024 * 1024;
/** How many times an append is attempted while its outcome is unknown. */
const maxAppendAttempts = 4;
/** How long a server that has just become the leader may lack the tail of a log. */
const newLeaderMs = 100;

export interface NatsLogOptions extends ReaderOptions {
  /** How long a followed log may be quiet before its stored tail is checked. Default: 3 s. */
  readonly tailCheckMs?: number;
  /** How long a read is retried while the store is unavailable. Default: 10 s. */
  readonly maxRetryMs?: number;
}

/**
 * Logs in one stream: one subject per key, one message per batch. The stream compares the sequence of the subject's last
 * message before it stores another, which makes an append a compare-and-append.
 */
export class NatsLog<Key, Event, Schema extends DescMessage>
  implements
    Log<Key, Event>,
    TailReader<Key, Event>,
    PartReader<Key, Event>,
    BatchReader<Key>,
    LogRemover<Key>,
    SettledLog
{
  readonly #connection: NatsConnection;
  readonly #definition: LogDefinition<Key, Event, Schema>;
  readonly #channel: ChannelTemplate;
  readonly #reader: SubjectReader;
  readonly #ranges: RangeReader<Key, Event, Schema>;
  readonly #publisher: StreamPublisher;
  readonly #cipher: PayloadCipher;
  readonly #tailCheckMs: number;
  readonly #settling: SharedRuns;
  readonly #retryLimits: { readonly maxElapsedMs: number; isFinal(error: unknown): boolean };
  /** Together with a number, identifies a write among those of all writers. */
  readonly #writer = randomBytes(12).toString("base64url");
  #writes = 0;

  constructor(
    connection: NatsConnection,
    definition: LogDefinition<Key, Event, Schema>,
    { channel, place }: OpenShard,
    options: NatsLogOptions = {},
  ) {
    const { tailCheckMs = 3_000, maxRetryMs = 10_000 } = options;
    const reader =
      definition.isArchived === true
        ? new ArchivedReader(connection, place, archivesOf(connection), options)
        : new SubjectReader(connection, place, options);
    this.#connection = connection;
    this.#definition = definition;
    this.#channel = channel;
    this.#reader = reader;
    this.#publisher = new StreamPublisher(connection);
    this.#cipher = payloadCipherOf(connection);
    this.#ranges = new RangeReader(definition, channel, reader, this.#cipher);
    this.#settling = new SharedRuns(() => reader.settle());
    this.#tailCheckMs = tailCheckMs;
    // A reader of the logs of many tenants would wait for the key of one, log after log.
    this.#retryLimits = { maxElapsedMs: maxRetryMs, isFinal: isKeysUnavailable };
  }

  get isReplicated(): boolean {
    return this.#reader.isReplicated;
  }

  async append(...given: Parameters<Log<Key, Event>["append"]>): Promise<AppendOutcome> {
    let isStored = false;
    try {
      const outcome = await this.#append(...given);
      isStored = outcome.kind === "appended";
      return outcome;
    } finally {
      // The log has, or may have, a batch that no writer of this process knows.
      if (!isStored) this.#forget(given[0]);
    }
  }

  async #append(
    key: Key,
    given: Tail,
    events: readonly Event[],
    signal: AbortSignal,
  ): Promise<AppendOutcome> {
    const subject = this.#subject(key);
    const isArchived = () => this.#reader.isArchived(subject);
    const isTaken =
      given.revision === 0 && (await retryUnavailable(isArchived, this.#retryLimits, signal));
    const tail = isClosed(given) ? await this.#reader.open(subject, given) : given;
    if (isTaken || tail === undefined) return { kind: "conflict" };
    const write = `${this.#writer}-${++this.#writes}`;
    const sequence = tail.sequence + events.length;
    const sealing = { cipher: this.#cipher, place: this.#ranges.placeOf(subject) };
    const batch = { tail, events, write };
    const { data, digest } = await encodeBatch(this.#definition, sealing, batch, signal);
    const described = { tail, length: events.length, kinds: this.#definition.kinds(events) };
    const messageHeaders = headersOfBatch(described, write, digest);
    this.#assertFits(subject, data);
    const usesReserve = this.#definition.usesReserve(events, data.length);
    // The connection may have moved to another server since the log was opened.
    if (this.#reader.isReplicated) assertKeepsReplicas(this.#connection);
    for (let attempt = 1; attempt <= maxAppendAttempts; attempt++) {
      signal.throwIfAborted();
      const reply = await this.#publisher.publish(subject, data, messageHeaders, { usesReserve });
      if (reply.kind === "stored") {
        const stored = batchFromHeaders(reply.sequence, messageHeaders, data);
        this.#reader.remember(subject, stored);
        this.#passOn(key, stored);
        return { kind: "appended", tail: { sequence, revision: reply.sequence, digest } };
      }
      const conflict = reply.kind === "refused" && isConflict(reply.error);
      if (conflict && attempt === 1 && !this.#reader.isReplicated) return { kind: "conflict" };
      if (reply.kind === "refused" && !conflict) throw storeFailure(reply.error);
      // The outcome of an earlier attempt is unknown, or a server that has just become the leader lacks the tail. The batch that
      // follows the tail in the log shows it.
      const read = () => this.#reader.next(subject, tail.revision);
      const next = await retryUnavailable(read, this.#retryLimits, signal);
      if (next?.write === write) {
        this.#passOn(key, next);
        return { kind: "appended", tail: { sequence, revision: next.revision, digest } };
      }
      if (next !== undefined) return { kind: "conflict" };
      if (conflict) await sleep(newLeaderMs * attempt, signal);
    }
    throw storeUnavailable();
  }

  async read(key: Key, tail: Tail, signal: AbortSignal): Promise<EventRange<Event>> {
    const part = await this.readPart(key, tail, Infinity, signal);
    const { events, tail: end, batchTails, bytes } = part;
    return { events, tail: end, batchTails, ...(bytes !== undefined && { bytes }) };
  }

  async readHeld(key: Key, signal: AbortSignal): Promise<EventRange<Event> | undefined> {
    const subject = this.#subject(key);
    const batches = liveHubOf(this.#connection)?.written.get(subject);
    return batches && (await this.#ranges.rangeOf(subject, emptyTail, batches, signal));
  }

  readPart(key: Key, tail: Tail, maxBytes: number, signal: AbortSignal): Promise<LogPart<Event>> {
    const limits = { maxBytes, mayLag: false };
    const read = () => this.#ranges.read(this.#subject(key), tail, limits, signal);
    return retryUnavailable(read, this.#retryLimits, signal);
  }

  async last(key: Key, signal: AbortSignal): Promise<EventRange<Event>> {
    const read = () => this.#reader.last(this.#subject(key), { mayLag: false }, signal);
    const batch = await retryUnavailable(read, this.#retryLimits, signal);
    if (batch === undefined) return { events: [], tail: emptyTail, batchTails: [] };
    const { events } = contentOf(
      this.#definition,
      await this.#ranges.open(this.#subject(key), batch, signal),
    );
    const tail = tailAfter(this.#subject(key), batch);
    return { events, tail, batchTails: [tail] };
  }

  async *readBatches(key: Key, signal: AbortSignal): AsyncIterable<StoredBatch> {
    const subject = this.#subject(key);
    const read = <Value>(get: () => Promise<Value>) =>
      retryUnavailable(get, this.#retryLimits, signal);
    const end = (await read(() => this.#reader.end(subject)))?.revision ?? 0;
    for (let revision = 0; revision < end;) {
      const range = { after: revision, to: end };
      const part = await read(() => this.#reader.inOrder(subject, range, rawBytes, signal));
      if (part.length === 0) return;
      for (const batch of part) {
        yield await this.#ranges.open(this.#subject(key), batch, signal);
        ({ revision } = batch);
      }
    }
  }

  follow(key: Key, after: number | Tail, signal: AbortSignal): AsyncIterable<EventRange<Event>> {
    const afterSequence = typeof after === "number" ? after : after.sequence;
    return followSubject(this.#followSource(key, after, signal), afterSequence, signal);
  }

  listen(key: Key): LogListener<Event> {
    const live = new LiveBatches(this.#liveSource(key));
    return {
      follow: (after, signal) => {
        const source = this.#followSource(key, after, signal);
        return followSubject(source, after.sequence, signal, { live, after });
      },
      skip: (tail) => live.skip(tail),
      [Symbol.dispose]: () => live[Symbol.dispose](),
    };
  }

  async settle(signal: AbortSignal): Promise<void> {
    const settle = () => abortable(this.#settling.run(), signal);
    await retryUnavailable(settle, this.#retryLimits, signal);
  }

  async remove(key: Key, signal: AbortSignal): Promise<void> {
    const remove = () => this.#reader.remove(this.#subject(key));
    await this.#removed(key, () => retryUnavailable(remove, this.#retryLimits, signal));
  }

  async removeThrough(key: Key, revision: number, signal: AbortSignal): Promise<void> {
    const remove = () => this.#reader.removeThrough(this.#subject(key), revision);
    await this.#removed(key, () => retryUnavailable(remove, this.#retryLimits, signal));
  }

  /** Passes a stored batch to its followers in this process, if they wait for it there. */
  #passOn(key: Key, batch: StoredBatch): void {
    const hub = liveHubOf(this.#connection);
    hub?.written.add(this.#subject(key), batch);
    hub?.pass(this.#channel.liveSubject(this.#definition.tokens(key)), batch);
  }

  #forget(key: Key): void {
    liveHubOf(this.#connection)?.written.forget(this.#subject(key));
  }

  async #removed(key: Key, remove: () => Promise<void>): Promise<void> {
    this.#forget(key);
    try {
      await remove();
    } finally {
      this.#forget(key);
    }
  }

  #liveSource(key: Key): LiveSource {
    const liveSubject = this.#channel.liveSubject(this.#definition.tokens(key));
    return { connection: this.#connection, liveSubject, tailCheckMs: this.#tailCheckMs };
  }

  #followSource(key: Key, after: number | Tail, signal: AbortSignal): FollowSource<Event> {
    const log = {
      ...this.#liveSource(key),
      ranges: this.#ranges,
      subject: this.#subject(key),
      expires: this.#channel.stream?.maxAge !== undefined,
    };
    return sourceOfLog(log, after, signal);
  }

  #subject(key: Key): string {
    return this.#channel.subject(this.#definition.tokens(key));
  }

  #assertFits(subject: string, data: Uint8Array): void {
    const maxBytes = maxDataBytes(this.#connection);
    if (data.length > maxBytes) throw batchTooLarge(subject, data.length, maxBytes);
  }
}
