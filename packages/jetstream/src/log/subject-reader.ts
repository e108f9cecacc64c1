import type { Consumer, JetStreamClient } from "@nats-io/jetstream";
import { DeliverPolicy, jetstream } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { headers } from "@nats-io/transport-node";
import type { ChannelTemplate } from "@reeve/contracts/channel";
import { IdleTimeout } from "@reeve/platform/async/idle-timeout";
import { onAbort } from "@reeve/platform/async/on-abort";
import { connectionStateOf } from "@reeve/platform/nats/connection-state";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import { ensureStream, openJetStreamManager } from "../streams/ensure-stream.ts";
import { maxPayloadBytes } from "../streams/payload-limit.ts";
import { requestClientOf } from "@reeve/platform/nats/request-client";
import { assertKeepsReplicas } from "../streams/replication-support.ts";
import { settleStream } from "../streams/settle-stream.ts";
import { removeSubject } from "../streams/remove-subject.ts";
import type { StreamPlace } from "../streams/stream-messages.ts";
import { StreamMessages } from "../streams/stream-messages.ts";
import { whenUnanswered } from "../streams/when-unanswered.ts";
import type { Tail } from "./port.ts";
import { RecentBatches } from "./recent-batches.ts";
import type { StoredBatch } from "./stored-batch.ts";
import { batchFromHeaders, batchOf } from "./stored-batch.ts";

/** Up to this many batches are read one by one; a consumer costs about as much as this many reads. */
const maxWalkedBatches = 8;
/** How large the first batch of a log may be that is kept for the next read, so that one does not take the room of many. */
const maxFirstBytes = 64 * 1024;
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
  /** Whether the subject has no messages, although a batch was read from it before. */
  readonly isGone?: boolean;
  /** Whether some of them were not read now: the store may have lost them since. */
  readonly hasRecent?: boolean;
}

/** After which batch a read starts. */
type Position = Pick<Tail, "sequence" | "revision">;

/** The batches after a position, the last of which is known. */
interface WalkedRange extends Pick<ReadLimits, "maxBytes"> {
  readonly after: Position;
  /** The first of them, if it was read together with the last one. */
  readonly first?: StoredBatch;
  readonly last: StoredBatch;
}

/** How much to read. */
interface ReadLimits {
  /** Read all batches, or about this many bytes. */
  readonly maxBytes: number;
  /** Whether the end may be the one that a lagging server knows. */
  readonly mayLag: boolean;
}

export interface ReaderOptions {
  /**
   * Whether subjects that are read from their start usually have several batches: the first one is then requested together with the last
   * one. Default: it is requested when there are others.
   */
  readonly readsAhead?: boolean;
}

/** Reads the batches of one subject from a stream. */
export class SubjectReader {
  readonly #connection: NatsConnection;
  readonly #stream: string;
  readonly #client: JetStreamClient;
  readonly #messages: StreamMessages;
  readonly #recent = new RecentBatches();
  readonly #readsAhead: boolean;

  private constructor(
    connection: NatsConnection,
    stream: StreamPlace,
    { readsAhead = false }: ReaderOptions,
  ) {
    this.#readsAhead = readsAhead;
    this.#connection = connection;
    this.#stream = stream.name;
    this.#client = jetstream(connection, { timeout: 5_000 });
    this.#messages = new StreamMessages(connection, stream);
    connectionStateOf(connection).onChange(() => this.#recent.clear());
  }

  /** Opens the stream of `channel`, and creates it if it is missing. */
  static async open(
    connection: NatsConnection,
    channel: ChannelTemplate,
    options: ReaderOptions = {},
  ): Promise<SubjectReader> {
    const manager = await openJetStreamManager(connection);
    const stream = await ensureStream(connection, manager, channel);
    return new SubjectReader(connection, stream, options);
  }

  /** Whether several servers keep the stream. */
  get isReplicated(): boolean {
    return this.#messages.isReplicated;
  }

  /**
   * Waits until reads see everything that was acknowledged before. Throws a Failure of kind `unavailable` when no leader answers,
   * or when the connected server is of a version that loses acknowledged writes.
   */
  async settle(): Promise<void> {
    if (!this.isReplicated) return;
    // The connection may have moved to another server since the stream was opened.
    assertKeepsReplicas(this.#connection);
    await settleStream(requestClientOf(this.#connection), this.#stream);
  }

  /** Returns the last batch of the subject; if it may lag, as any server knows it. */
  async last(subject: string, { mayLag } = { mayLag: false }): Promise<StoredBatch | undefined> {
    const query = { last_by_subj: subject };
    return batchOf(await (mayLag ? this.#messages.lagging(query) : this.#messages.latest(query)));
  }

  /** Keeps a batch, for the next read of its log. */
  remember(subject: string, batch: StoredBatch): void {
    this.#recent.add({ subject, ...batch });
  }

  /** Keeps the only batch of a log: the batches that follow are often appended here. */
  #rememberFirst(subject: string, batch: StoredBatch): void {
    if (batch.data.length <= maxFirstBytes) this.remember(subject, batch);
  }

  /** Forgets the batches that were appended, which the store may have lost since. */
  forget(): void {
    this.#recent.clear();
  }

  /** Removes all batches of the subject. */
  async remove(subject: string): Promise<void> {
    await removeSubject(this.#connection, this.#stream, subject);
  }

  /**
   * Removes the batches of the subject through `revision`, and those that were appended to them since. A batch that starts a log
   * anew stays, with those after it.
   */
  async removeThrough(subject: string, revision: number): Promise<void> {
    let through = revision;
    for (;;) {
      await removeSubject(this.#connection, this.#stream, subject, through);
      const next = await this.next(subject, 0);
      if (next === undefined || next.first === 1) return;
      through = next.revision;
    }
  }

  /** Returns the first batch of the subject after `revision`. */
  async next(subject: string, revision: number): Promise<StoredBatch | undefined> {
    return batchOf(await this.#messages.latest({ next_by_subj: subject, seq: revision + 1 }));
  }

  /** Returns the batch that was committed at `revision`, or undefined if it was deleted since. */
  async at(revision: number): Promise<StoredBatch | undefined> {
    return batchOf(await this.#messages.assigned(revision));
  }

  /** Returns the batches of the subject after `tail`, oldest first. */
  async after(
    subject: string,
    { sequence, revision }: Position,
    { maxBytes, mayLag }: ReadLimits,
    signal: AbortSignal,
  ): Promise<BatchRange> {
    const readsAhead = this.#readsAhead && !mayLag && !this.isReplicated;
    const isWhole = revision === 0 && maxBytes === Infinity;
    const [last, first] = await Promise.all([
      this.last(subject, { mayLag }),
      readsAhead && isWhole ? this.next(subject, 0) : undefined,
    ]);
    if (last === undefined) {
      // Only the leader knows that a batch which was read is gone.
      const isGone = revision > 0 && (!mayLag || (await this.last(subject)) === undefined);
      return { batches: [], isComplete: true, isGone };
    }
    if (last.revision === revision) return { batches: [], isComplete: true };
    if (last.revision < revision) {
      if (mayLag || !this.isReplicated) return { batches: [], isComplete: true };
      throw storeUnavailable(
        new Error(
          `${subject} ends at ${last.revision}, before ${revision}, which was read from it`,
        ),
      );
    }
    if (last.first === 1) this.#rememberFirst(subject, last);
    const range = { after: { sequence, revision }, last, maxBytes, ...(first && { first }) };
    // Servers with a defect store two batches after the same one, which only a walk over all of them shows.
    const recent = this.isReplicated ? undefined : this.#recent.between(subject, range);
    if (recent !== undefined)
      return { batches: [...recent, last], isComplete: true, hasRecent: recent.length > 0 };
    const walk = this.isReplicated
      ? this.#walkForward(subject, range, signal)
      : this.#walk(subject, range, signal);
    const { batches: walked, isComplete } = await walk;
    const left = maxBytes - bytesOf(walked);
    if (isComplete || left <= 0) return { batches: walked, isComplete };
    const rest = { from: (walked.at(-1)?.revision ?? revision) + 1, to: last.revision };
    const described = await this.#consume(subject, rest, left, signal);
    const batches = [...walked, ...described.filter(({ last: end }) => end > 0)];
    return { batches, isComplete: (batches.at(-1)?.revision ?? last.revision) >= last.revision };
  }

  /**
   * Returns the next batches of the subject in the order of the stream, whatever their headers say: about `maxBytes`, or up to a
   * revision. Empty: there are none.
   */
  async inOrder(
    subject: string,
    { after, to }: { readonly after: number; readonly to: number },
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<readonly StoredBatch[]> {
    const batches: StoredBatch[] = [];
    let reached = after;
    // A consumer is of use only for a long rest. The log may end earlier by now, if it is being deleted.
    const walked = after === 0 ? maxWalkedBatches : 1;
    while (batches.length < walked && reached < to && bytesOf(batches) < maxBytes) {
      signal.throwIfAborted();
      const next = await this.next(subject, reached);
      if (next === undefined) return batches;
      batches.push(next);
      reached = next.revision;
    }
    const left = maxBytes - bytesOf(batches);
    const last = reached < to && left > 0 ? await this.last(subject) : undefined;
    if (last === undefined || last.revision <= reached) return batches;
    const rest = { from: reached + 1, to: Math.min(to, last.revision) };
    return [...batches, ...(await this.#consume(subject, rest, left, signal))];
  }

  /**
   * Reads the batches after a position in the order of the stream. So a reader also sees a batch that no later one names: servers
   * with a defect store two batches after the same one.
   */
  async #walkForward(
    subject: string,
    { after, last, maxBytes }: WalkedRange,
    signal: AbortSignal,
  ): Promise<BatchRange> {
    const batches: StoredBatch[] = [];
    let reached = after.revision;
    while (batches.length < maxWalkedBatches && bytesOf(batches) < maxBytes) {
      signal.throwIfAborted();
      const next = await this.#stored({ next_by_subj: subject, seq: reached + 1 });
      // A log that is deleted while it is read ends here.
      if (next === undefined || next.revision >= last.revision) {
        return { batches: [...batches, last], isComplete: true };
      }
      batches.push(next);
      reached = next.revision;
    }
    return { batches, isComplete: false };
  }

  /**
   * Reads the batches after a position, all of them from both ends at once: each batch names the one before it. When there are too
   * many, returns only the first ones.
   */
  async #walk(
    subject: string,
    { after, first, last, maxBytes }: WalkedRange,
    signal: AbortSignal,
  ): Promise<BatchRange> {
    const end: StoredBatch[] = [last];
    // One that was written later, to a log that was deleted meanwhile, is not before the last one.
    const head = first !== undefined && first.revision < last.revision ? [first] : [];
    let [reached, left] = [head.map(positionAfter)[0] ?? after, last];
    while (left.first !== reached.sequence + 1) {
      signal.throwIfAborted();
      // The last batch does not count: it was read to find out where the log ends.
      const bytes = bytesOf(head) + bytesOf(end) - bytesOf([last]);
      if (head.length + end.length > maxWalkedBatches || bytes >= maxBytes) {
        return { batches: head, isComplete: false };
      }
      // A part may end before the batches at the end are of use.
      const isForward = maxBytes < Infinity || left.previousRevision <= reached.revision;
      const [next, previous] = await Promise.all([
        this.#stored({ next_by_subj: subject, seq: reached.revision + 1 }),
        isForward ? undefined : this.#stored({ seq: left.previousRevision }),
      ]);
      // A log that is deleted while it is read ends here.
      if (next === undefined || next.revision >= left.revision) break;
      head.push(next);
      reached = positionAfter(next);
      if (previous === undefined || previous.revision <= next.revision) continue;
      end.unshift(previous);
      left = previous;
    }
    return { batches: [...head, ...end], isComplete: true };
  }

  /** Reads batches with a consumer. One that was stored without headers has the sequence 0. */
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
      void whenUnanswered(messages, () => lost.abort(storeUnavailable()));
      for await (const message of messages) {
        idle.restart();
        batches.push(batchFromHeaders(message.seq, message.headers ?? headers(), message.data));
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

  async #stored(query: { readonly seq: number; readonly next_by_subj?: string }) {
    return batchOf(await this.#messages.stored(query));
  }
}

function positionAfter({ last: sequence, revision }: StoredBatch): Position {
  return { sequence, revision };
}

function bytesOf(batches: readonly StoredBatch[]): number {
  return batches.reduce((sum, { data }) => sum + data.length + batchOverheadBytes, 0);
}
