import type { Consumer, JetStreamClient } from "@nats-io/jetstream";
import { DeliverPolicy, jetstream } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import type { ChannelTemplate } from "@reeve/contracts/channel";
import { connectionStateOf } from "@reeve/platform/nats/connection-state";
import type { RequestClient } from "@reeve/platform/nats/request-client";
import { requestClientOf } from "@reeve/platform/nats/request-client";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import type { Tail } from "./port.ts";
import { maxPayloadBytes } from "../streams/payload-limit.ts";
import type { StoredBatch } from "./stored-batch.ts";
import { batchFromHeaders, batchFromMessage } from "./stored-batch.ts";
import { ensureStream, openManager } from "../streams/ensure-stream.ts";

/** The status of an answer that there is no such message. */
const notFound = 404;
/** Remainders up to this length are fetched message by message; a consumer costs about as much as this many. */
const walkLength = 8;
/** How long a consumer may be silent while there is more to come. */
const silenceMs = 5_000;

/** What may be on its way at a time: a server cuts off a connection to which it has more to say than 64 MiB. */
const maxPulledBytes = 8 * 1024 * 1024;
/** About what a batch costs besides its data, with its headers: a part of very small ones is bounded too. */
const besidesBytes = 512;

/** Batches that join on to each other. */
interface BatchRange {
  readonly batches: readonly StoredBatch[];
  /** Whether they reach to the end of what is stored. */
  readonly isComplete: boolean;
}

/** Reads the batches of one subject out of a stream. */
export class SubjectReader {
  readonly #connection: NatsConnection;
  readonly #stream: string;
  readonly #direct: string;
  readonly #client: JetStreamClient;
  readonly #requests: RequestClient;

  private constructor(connection: NatsConnection, stream: string) {
    this.#connection = connection;
    this.#stream = stream;
    this.#direct = `$JS.API.DIRECT.GET.${stream}`;
    this.#client = jetstream(connection, { timeout: 5_000 });
    this.#requests = requestClientOf(connection);
  }

  /** Opens the stream of `channel`, and makes it where it is missing. */
  static async open(connection: NatsConnection, channel: ChannelTemplate): Promise<SubjectReader> {
    const manager = await openManager(connection);
    const stream = await ensureStream(manager, channel);
    return new SubjectReader(connection, stream);
  }

  /** The last batch of the subject. */
  last(subject: string): Promise<StoredBatch | undefined> {
    return this.#get(`${this.#direct}.${subject}`);
  }

  /** The first batch of the subject after `revision`. */
  next(subject: string, revision: number): Promise<StoredBatch | undefined> {
    return this.#get(this.#direct, { next_by_subj: subject, seq: revision + 1 });
  }

  /** The batch at `revision`. */
  at(revision: number): Promise<StoredBatch | undefined> {
    return this.#get(this.#direct, { seq: revision });
  }

  /** The batches of the subject after `tail`, oldest first: all of them, or about `maxBytes`. */
  async after(
    subject: string,
    { sequence, revision }: Tail,
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<BatchRange> {
    const last = await this.last(subject);
    if (last === undefined || last.revision <= revision) return { batches: [], isComplete: true };
    if (last.first === sequence + 1) return { batches: [last], isComplete: true };
    const { batches: walked, isComplete } = await this.#walk(
      subject,
      { sequence, revision },
      last,
      signal,
    );
    if (isComplete) return { batches: walked, isComplete };
    const range = { from: (walked.at(-1)?.revision ?? revision) + 1, to: last.revision };
    const batches = [...walked, ...(await this.#consume(subject, range, maxBytes, signal))];
    return { batches, isComplete: (batches.at(-1)?.revision ?? last.revision) >= last.revision };
  }

  /**
   * The batches after `tail`, the last of which is `last`, by going from both ends at once: each names the one before it. Of
   * many, only the first.
   */
  async #walk(
    subject: string,
    { sequence, revision }: Tail,
    last: StoredBatch,
    signal: AbortSignal,
  ): Promise<BatchRange> {
    const head: StoredBatch[] = [];
    const end: StoredBatch[] = [last];
    let [reached, left] = [{ sequence, revision }, last];
    while (left.first !== reached.sequence + 1) {
      signal.throwIfAborted();
      if (head.length + end.length > walkLength) return { batches: head, isComplete: false };
      const isOne = left.previousRevision <= reached.revision;
      const [next, before] = await Promise.all([
        this.next(subject, reached.revision),
        isOne ? undefined : this.at(left.previousRevision),
      ]);
      // A log that is deleted while it is read ends where it is.
      if (next === undefined || next.revision >= left.revision) break;
      head.push(next);
      reached = { sequence: next.last, revision: next.revision };
      if (before === undefined || before.revision <= next.revision) continue;
      end.unshift(before);
      left = before;
    }
    return { batches: [...head, ...end], isComplete: true };
  }

  async #consume(
    subject: string,
    { from, to }: { readonly from: number; readonly to: number },
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<readonly StoredBatch[]> {
    const ended = new AbortController();
    const end = () => ended.abort(storeUnavailable());
    const silence = setTimeout(end, silenceMs);
    // What was on its way is lost with the connection, and the consumer, perhaps, with its server.
    const forget = connectionStateOf(this.#connection).onChange(end);
    const bounded = AbortSignal.any([signal, ended.signal]);
    const batches: StoredBatch[] = [];
    let bytes = 0;
    let consumer: Consumer | undefined;
    try {
      consumer = await this.#client.consumers.get(this.#stream, {
        filter_subjects: subject,
        deliver_policy: DeliverPolicy.StartSequence,
        opt_start_seq: from,
      });
      const messages = await consumer.consume({ max_messages: this.#maxPulled() });
      const stop = () => messages.stop();
      bounded.addEventListener("abort", stop, { once: true });
      if (bounded.aborted) stop();
      for await (const message of messages) {
        silence.refresh();
        if (message.headers !== undefined) {
          batches.push(batchFromHeaders(message.seq, message.headers, message.data));
        }
        bytes += message.data.length + besidesBytes;
        if (message.seq >= to || bytes >= maxBytes) return batches;
      }
    } catch (error) {
      bounded.throwIfAborted();
      throw storeUnavailable(error);
    } finally {
      clearTimeout(silence);
      forget();
      void consumer?.delete().catch(() => undefined);
    }
    bounded.throwIfAborted();
    throw storeUnavailable();
  }

  /**
   * How many batches are asked for at a time: as many as stay within the bytes when all are as large as they may be. A pull
   * that is limited by bytes instead is ended by the first message that is larger than what is left of it, and the client
   * goes on only after a long silence: so a large batch after many small ones would not arrive.
   */
  #maxPulled(): number {
    return Math.max(1, Math.floor(maxPulledBytes / maxPayloadBytes(this.#connection)));
  }

  async #get(subject: string, query?: object): Promise<StoredBatch | undefined> {
    const data = query && JSON.stringify(query);
    const answer = await this.#requests.send(subject, data === undefined ? {} : { data });
    const status = answer?.headers?.code;
    if (answer === undefined) throw storeUnavailable();
    if (status === notFound) return undefined;
    const batch = status === 0 ? batchFromMessage(answer) : undefined;
    if (batch === undefined) throw storeUnavailable(new Error(`status ${status} of ${subject}`));
    return batch;
  }
}
