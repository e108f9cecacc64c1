import type { Consumer, JetStreamClient } from "@nats-io/jetstream";
import { DeliverPolicy, jetstream } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import type { ChannelTemplate } from "@reeve/contracts/channel";
import { IdleTimeout } from "@reeve/platform/async/idle-timeout";
import { onAbort } from "@reeve/platform/async/on-abort";
import { connectionStateOf } from "@reeve/platform/nats/connection-state";
import type { RequestClient } from "@reeve/platform/nats/request-client";
import { requestClientOf } from "@reeve/platform/nats/request-client";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import { ensureStream, openJetStreamManager } from "../streams/ensure-stream.ts";
import { maxPayloadBytes } from "../streams/payload-limit.ts";
import type { Tail } from "./port.ts";
import type { StoredBatch } from "./stored-batch.ts";
import { batchFromHeaders, batchFromMessage } from "./stored-batch.ts";

/** The status of a reply that no such message exists. */
const notFound = 404;
/** Up to this many batches are read one by one; a consumer costs about as much as this many reads. */
const maxWalkedBatches = 8;
/** How long a consumer may deliver nothing although more is stored. */
const idleTimeoutMs = 5_000;

/** How much a server may have to send at a time: it closes a connection for which it holds more than 64 MiB. */
const maxPulledBytes = 8 * 1024 * 1024;
/** The approximate size of the headers of a batch, so that a read of many tiny batches is bounded too. */
const batchOverheadBytes = 512;

/** Consecutive batches. */
interface BatchRange {
  readonly batches: readonly StoredBatch[];
  /** Whether they reach the end of what is stored. */
  readonly isComplete: boolean;
}

/** After which batch a read starts. */
type Position = Pick<Tail, "sequence" | "revision">;

/** Reads the batches of one subject from a stream. */
export class SubjectReader {
  readonly #connection: NatsConnection;
  readonly #stream: string;
  readonly #directGet: string;
  readonly #client: JetStreamClient;
  readonly #requests: RequestClient;

  private constructor(connection: NatsConnection, stream: string) {
    this.#connection = connection;
    this.#stream = stream;
    this.#directGet = `$JS.API.DIRECT.GET.${stream}`;
    this.#client = jetstream(connection, { timeout: 5_000 });
    this.#requests = requestClientOf(connection);
  }

  /** Opens the stream of `channel`, and creates it if it is missing. */
  static async open(connection: NatsConnection, channel: ChannelTemplate): Promise<SubjectReader> {
    const manager = await openJetStreamManager(connection);
    const stream = await ensureStream(manager, channel);
    return new SubjectReader(connection, stream);
  }

  /** Returns the last batch of the subject. */
  last(subject: string): Promise<StoredBatch | undefined> {
    return this.#get(`${this.#directGet}.${subject}`);
  }

  /** Returns the first batch of the subject after `revision`. */
  next(subject: string, revision: number): Promise<StoredBatch | undefined> {
    return this.#get(this.#directGet, { next_by_subj: subject, seq: revision + 1 });
  }

  /** Returns the batch at `revision`. */
  at(revision: number): Promise<StoredBatch | undefined> {
    return this.#get(this.#directGet, { seq: revision });
  }

  /** Returns the batches of the subject after `tail`, oldest first: all of them, or about `maxBytes`. */
  async after(
    subject: string,
    { sequence, revision }: Position,
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
   * Reads the batches after `tail`, the last of which is `last`, from both ends at once: each batch names the one before it.
   * When there are too many, returns only the first ones.
   */
  async #walk(
    subject: string,
    { sequence, revision }: Position,
    last: StoredBatch,
    signal: AbortSignal,
  ): Promise<BatchRange> {
    const head: StoredBatch[] = [];
    const end: StoredBatch[] = [last];
    let [reached, left] = [{ sequence, revision }, last];
    while (left.first !== reached.sequence + 1) {
      signal.throwIfAborted();
      if (head.length + end.length > maxWalkedBatches) return { batches: head, isComplete: false };
      const isSingle = left.previousRevision <= reached.revision;
      const [next, previous] = await Promise.all([
        this.next(subject, reached.revision),
        isSingle ? undefined : this.at(left.previousRevision),
      ]);
      // A log that is deleted while it is read ends here.
      if (next === undefined || next.revision >= left.revision) break;
      head.push(next);
      reached = { sequence: next.last, revision: next.revision };
      if (previous === undefined || previous.revision <= next.revision) continue;
      end.unshift(previous);
      left = previous;
    }
    return { batches: [...head, ...end], isComplete: true };
  }

  async #consume(
    subject: string,
    { from, to }: { readonly from: number; readonly to: number },
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<readonly StoredBatch[]> {
    using resources = new DisposableStack();
    // Messages in flight are lost with the connection, and the consumer may be lost with its server.
    const lost = new AbortController();
    resources.defer(
      connectionStateOf(this.#connection).onChange(() => lost.abort(storeUnavailable())),
    );
    const options = { timeoutMs: idleTimeoutMs, reason: () => storeUnavailable() };
    const idle = resources.use(new IdleTimeout(options, AbortSignal.any([signal, lost.signal])));
    const batches: StoredBatch[] = [];
    let bytes = 0;
    let consumer: Consumer | undefined;
    try {
      consumer = await this.#client.consumers.get(this.#stream, {
        filter_subjects: subject,
        deliver_policy: DeliverPolicy.StartSequence,
        opt_start_seq: from,
      });
      const messages = await consumer.consume({ max_messages: this.#maxPulledMessages() });
      resources.use(onAbort(idle.signal, () => messages.stop()));
      for await (const message of messages) {
        idle.restart();
        if (message.headers !== undefined) {
          batches.push(batchFromHeaders(message.seq, message.headers, message.data));
        }
        bytes += message.data.length + batchOverheadBytes;
        if (message.seq >= to || bytes >= maxBytes) return batches;
      }
    } catch (error) {
      idle.signal.throwIfAborted();
      throw storeUnavailable(error);
    } finally {
      void consumer?.delete().catch(() => undefined);
    }
    idle.signal.throwIfAborted();
    throw storeUnavailable();
  }

  /**
   * Returns how many batches to request at a time: as many as stay within the limit when each has the largest size. A pull that
   * is limited by bytes instead ends at the first message that exceeds the rest of the limit, and the client continues only
   * after a long timeout. So a large batch after many small ones would not arrive.
   */
  #maxPulledMessages(): number {
    return Math.max(1, Math.floor(maxPulledBytes / maxPayloadBytes(this.#connection)));
  }

  async #get(subject: string, query?: object): Promise<StoredBatch | undefined> {
    const data = query && JSON.stringify(query);
    const reply = await this.#requests.send(subject, data === undefined ? {} : { data });
    const status = reply?.headers?.code;
    if (reply === undefined) throw storeUnavailable();
    if (status === notFound) return undefined;
    const batch = status === 0 ? batchFromMessage(reply) : undefined;
    if (batch === undefined) throw storeUnavailable(new Error(`status ${status} for ${subject}`));
    return batch;
  }
}
