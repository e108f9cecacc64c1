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
import type { StoredBatch } from "../stored-batch.ts";
import { batchOf } from "../stored-batch.ts";
import type { BatchRange, Position, ReadStored } from "./walk-batches.ts";
import { maxWalkedBatches, walkForward, walkFromBothEnds } from "./walk-batches.ts";

/** How large the first batch of a log may be that is kept for the next read, so that one does not take the room of many. */
const maxFirstBytes = 64 * 1024;

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

  /** Forgets the batches that are kept: the store may have lost them since. */
  forget(): void {
    this.#recent.clear();
  }

  /** Removes all batches of the subject. */
  async remove(subject: string): Promise<void> {
    const { connection, stream } = this.#source;
    await removeSubject(connection, stream, subject);
  }

  /**
   * Removes the batches of the subject through `revision`, and those that were appended to them since. A batch that starts a log
   * anew stays, with those after it.
   */
  async removeThrough(subject: string, revision: number): Promise<void> {
    const { connection, stream } = this.#source;
    let through = revision;
    for (;;) {
      await removeSubject(connection, stream, subject, through);
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
    { after, to }: { readonly after: number; readonly to: number },
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
    const last = reached < to && left > 0 ? await this.last(subject) : undefined;
    if (last === undefined || last.revision <= reached) return batches;
    const rest = { subject, from: reached + 1, to: Math.min(to, last.revision), maxBytes: left };
    return [...batches, ...(await consumeBatches(this.#source, rest, signal))];
  }
}
