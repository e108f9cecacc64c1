import { jetstream } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { connectionStateOf } from "@reeve/platform/nats/connection-state";
import { requestClientOf } from "@reeve/platform/nats/request-client";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import { removeSubject } from "../../streams/remove-subject.ts";
import { assertKeepsReplicas } from "../../streams/replication-support.ts";
import { settleStream } from "../../streams/settle-stream.ts";
import type { StreamPlace } from "../../streams/stream-messages.ts";
import { StreamMessages } from "../../streams/stream-messages.ts";
import { bytesOf } from "./batch-size.ts";
import type { BatchSource } from "./consume-batches.ts";
import { consumeBatches } from "./consume-batches.ts";
import { RecentBatches } from "./recent-batches.ts";
import { archiveOf } from "../archive/marker.ts";
import type { Tail } from "../port.ts";
import type { StoredBatch } from "../stored-batch.ts";
import { batchOf } from "../stored-batch.ts";
import type { BatchRange, Position, ReadStored } from "./walk-batches.ts";
import { maxWalkedBatches, walkForward, walkFromBothEnds } from "./walk-batches.ts";

/** How large the first batch of a log may be that is kept for the next read, so that one does not take the room of many. */
const maxFirstBytes = 64 * 1024;

/** How much to read. */
export interface ReadLimits {
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

/** A part of a subject: its messages after one revision, up to another. */
export interface RevisionRange {
  readonly after: number;
  readonly to: number;
}

/** Reads the batches of one subject from a stream. A marker, which stands for archived batches, is a batch without events. */
export class SubjectReader {
  readonly #source: BatchSource;
  readonly #messages: StreamMessages;
  readonly #recent = new RecentBatches();
  readonly #readsAhead: boolean;
  readonly #stored: ReadStored = async (query) => batchOf(await this.#messages.stored(query));

  constructor(
    connection: NatsConnection,
    stream: StreamPlace,
    { readsAhead = false }: ReaderOptions = {},
  ) {
    this.#readsAhead = readsAhead;
    const client = jetstream(connection, { timeout: 5_000 });
    this.#source = { connection, client, stream: stream.name };
    this.#messages = new StreamMessages(connection, stream);
    connectionStateOf(connection).onChange(() => this.#recent.clear());
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
    const { connection, stream } = this.#source;
    assertKeepsReplicas(connection);
    await settleStream(requestClientOf(connection), stream);
  }

  /** Returns the last batch of the subject; if it may lag, as any server knows it. */
  async last(
    subject: string,
    { mayLag }: { readonly mayLag: boolean },
    _signal: AbortSignal,
  ): Promise<StoredBatch | undefined> {
    return await this.end(subject, { mayLag });
  }

  /** Returns what a read of the subject ends with. */
  async end(subject: string, { mayLag } = { mayLag: false }): Promise<StoredBatch | undefined> {
    return await this.lastMessage(subject, mayLag);
  }

  /** Returns the last message of the subject. */
  async lastMessage(subject: string, mayLag = false): Promise<StoredBatch | undefined> {
    const query = { last_by_subj: subject };
    return batchOf(await (mayLag ? this.#messages.lagging(query) : this.#messages.latest(query)));
  }

  /** Returns whether the subject is archived, although it has no messages. */
  async isArchived(_subject: string): Promise<boolean> {
    return false;
  }

  /** Opens an archived subject for batches after `tail`, and returns its tail then. Undefined: it has another end. */
  async open(_subject: string, _tail: Tail): Promise<Tail | undefined> {
    return undefined;
  }

  /** Keeps a batch, for the next read of its log. */
  remember(subject: string, batch: StoredBatch): void {
    this.#recent.add({ subject, ...batch });
  }

  /** Keeps the only batch of a log: the batches that follow are often appended here. */
  #rememberFirst(subject: string, batch: StoredBatch): void {
    if (batch.data.length <= maxFirstBytes) this.remember(subject, batch);
  }

  /** Forgets the batches that are kept: the store may have lost them since. */
  forget(): void {
    this.#recent.clear();
  }

  /** Removes all batches of the subject. */
  async remove(subject: string): Promise<void> {
    await this.erase(subject, Infinity);
    await this.removeMessages(subject);
  }

  /**
   * Removes the batches of the subject through `revision`, and those that were appended to them since. A batch that starts a log
   * anew stays, with those after it.
   */
  async removeThrough(subject: string, revision: number): Promise<void> {
    const end = Math.abs(revision);
    for (let through = end; ;) {
      await this.erase(subject, end);
      await this.removeMessages(subject, through);
      const next = await this.next(subject, 0);
      if (next === undefined || startsAnew(next, end)) return;
      through = next.revision;
    }
  }

  /** Removes the messages of the subject, up to a revision or all. What is archived stays. */
  async removeMessages(subject: string, through?: number): Promise<void> {
    const { connection, stream } = this.#source;
    await removeSubject(connection, stream, subject, through);
  }

  /** Erases what is elsewhere of the batches up to a revision, before their messages are removed. */
  protected async erase(_subject: string, _through: number): Promise<void> {}

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
      this.end(subject, { mayLag }),
      readsAhead && isWhole ? this.next(subject, 0) : undefined,
    ]);
    if (last === undefined) {
      // Only the leader knows that a batch which was read is gone.
      const isGone = revision > 0 && (!mayLag || (await this.end(subject)) === undefined);
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
    if (last.first === 1 && last.marker === undefined) this.#rememberFirst(subject, last);
    const after = { sequence, revision };
    const range = { subject, after, last, maxBytes, ...(first && { first }) };
    // Servers with a defect store two batches after the same one, which only a walk over all of them shows.
    const recent = this.isReplicated ? undefined : this.#recent.between(subject, range);
    if (recent !== undefined)
      return { batches: [...recent, last], isComplete: true, hasRecent: recent.length > 0 };
    const walk = this.isReplicated ? walkForward : walkFromBothEnds;
    const { batches: walked, isComplete } = await walk(this.#stored, range, signal);
    const left = maxBytes - bytesOf(...walked);
    if (isComplete || left <= 0) return { batches: walked, isComplete };
    const from = (walked.at(-1)?.revision ?? revision) + 1;
    const rest = { subject, from, to: last.revision, maxBytes: left };
    const described = await consumeBatches(this.#source, rest, signal);
    const batches = [...walked, ...described.filter(({ last: end }) => end > 0)];
    return { batches, isComplete: (batches.at(-1)?.revision ?? last.revision) >= last.revision };
  }

  /**
   * Returns the next batches of the subject in the order of the stream, whatever their headers say: about `maxBytes`, or up to a
   * revision. Empty: there are none.
   */
  async inOrder(
    subject: string,
    range: RevisionRange,
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<readonly StoredBatch[]> {
    return await this.messages(subject, range, maxBytes, signal);
  }

  /** Returns the next messages of the subject, as `inOrder` does, with its markers instead of what was archived. */
  async messages(
    subject: string,
    { after, to }: RevisionRange,
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<readonly StoredBatch[]> {
    const batches: StoredBatch[] = [];
    let reached = after;
    // A consumer is of use only for a long rest. The log may end earlier by now, if it is being deleted.
    const walked = after === 0 ? maxWalkedBatches : 1;
    while (batches.length < walked && reached < to && bytesOf(...batches) < maxBytes) {
      signal.throwIfAborted();
      const next = await this.next(subject, reached);
      if (next === undefined) return batches;
      batches.push(next);
      reached = next.revision;
    }
    const left = maxBytes - bytesOf(...batches);
    const last = reached < to && left > 0 ? await this.lastMessage(subject) : undefined;
    if (last === undefined || last.revision <= reached) return batches;
    const rest = { subject, from: reached + 1, to: Math.min(to, last.revision), maxBytes: left };
    return [...batches, ...(await consumeBatches(this.#source, rest, signal))];
  }
}

/** Returns whether the first message of a subject is not of the log that had a batch at `revision`. */
function startsAnew(first: StoredBatch, revision: number): boolean {
  if (first.marker !== undefined) return Number(archiveOf(first).firstRevision) > revision;
  return first.first === 1;
}
