import type { JetStreamClient, JetStreamManager } from "@nats-io/jetstream";
import { DeliverPolicy, jetstream } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import type { ChannelOf } from "@reeve/contracts/channel";
import type { ConnectionState } from "@reeve/platform/connection-state";
import { stateOf } from "@reeve/platform/connection-state";
import { unanswered } from "@reeve/platform/unanswered";
import type { Tail } from "./log.ts";
import type { StoredBatch } from "./stored-batch.ts";
import { batchOf, storedBatch } from "./stored-batch.ts";
import { ensureStream, managerOf } from "./streams.ts";

/** Remainders up to this length are fetched message by message; a consumer costs about as much as this many. */
const walkLength = 8;
/** How long a consumer may be silent while there is more to come. */
const silenceMs = 5_000;

/** What is on its way at a time: a server cuts off a connection to which it has more to say than 64 MiB. */
const mostPulledBytes = 8 * 1024 * 1024;

/** Batches that join on to each other. */
interface Batches {
  readonly batches: readonly StoredBatch[];
  /** Whether they reach to the end of what is stored. */
  readonly isAll: boolean;
}

/** Reads the batches of one subject out of a stream. */
export class SubjectReader {
  readonly #stream: string;
  readonly #manager: JetStreamManager;
  readonly #client: JetStreamClient;

  readonly #state: ConnectionState;

  private constructor(connection: NatsConnection, stream: string, manager: JetStreamManager) {
    this.#stream = stream;
    this.#manager = manager;
    this.#client = jetstream(connection, { timeout: 5_000 });
    this.#state = stateOf(connection);
  }

  /** Opens the stream of `channel`, and makes it where it is missing. */
  static async open(connection: NatsConnection, channel: ChannelOf): Promise<SubjectReader> {
    const manager = await managerOf(connection);
    const stream = await ensureStream(manager, channel);
    return new SubjectReader(connection, stream, manager);
  }

  /** The last batch of the subject. */
  last(subject: string): Promise<StoredBatch | undefined> {
    return this.#get({ last_by_subj: subject });
  }

  /** The first batch of the subject after `revision`. */
  next(subject: string, revision: number): Promise<StoredBatch | undefined> {
    return this.#get({ next_by_subj: subject, seq: revision + 1 });
  }

  /** The batch at `revision`. */
  at(revision: number): Promise<StoredBatch | undefined> {
    return this.#get({ seq: revision });
  }

  /** The batches of the subject after `tail`, oldest first: all of them, or about `mostBytes`. */
  async after(
    subject: string,
    { sequence, revision }: Tail,
    mostBytes: number,
    signal: AbortSignal,
  ): Promise<Batches> {
    const last = await this.last(subject);
    if (last === undefined || last.revision <= revision) return { batches: [], isAll: true };
    if (last.first === sequence + 1) return { batches: [last], isAll: true };
    const batches: StoredBatch[] = [];
    let reached = revision;
    while (reached < last.revision && batches.length < walkLength) {
      signal.throwIfAborted();
      const next = await this.next(subject, reached);
      if (next === undefined) break;
      batches.push(next);
      reached = next.revision;
      if (next.last + 1 === last.first) {
        batches.push(last);
        reached = last.revision;
      }
    }
    if (reached < last.revision) {
      const range = { from: reached + 1, to: last.revision };
      batches.push(...(await this.#consume(subject, range, mostBytes, signal)));
    }
    return { batches, isAll: (batches.at(-1)?.revision ?? last.revision) >= last.revision };
  }

  async #consume(
    subject: string,
    { from, to }: { readonly from: number; readonly to: number },
    mostBytes: number,
    signal: AbortSignal,
  ): Promise<readonly StoredBatch[]> {
    const ended = new AbortController();
    const silence = setTimeout(() => ended.abort(unanswered()), silenceMs);
    const bounded = AbortSignal.any([signal, ended.signal]);
    const batches: StoredBatch[] = [];
    let bytes = 0;
    try {
      const consumer = await this.#client.consumers.get(this.#stream, {
        filter_subjects: subject,
        deliver_policy: DeliverPolicy.StartSequence,
        opt_start_seq: from,
      });
      const messages = await consumer.consume({ max_bytes: mostPulledBytes });
      const stop = () => messages.stop();
      bounded.addEventListener("abort", stop, { once: true });
      for await (const message of messages) {
        silence.refresh();
        if (message.headers !== undefined) {
          batches.push(batchOf(message.seq, message.headers, message.data));
        }
        bytes += message.data.length;
        if (message.seq >= to || bytes >= mostBytes) break;
      }
      void consumer.delete().catch(() => undefined);
    } catch (error) {
      bounded.throwIfAborted();
      throw unanswered(error);
    } finally {
      clearTimeout(silence);
    }
    bounded.throwIfAborted();
    return batches;
  }

  async #get(
    query: Parameters<JetStreamManager["direct"]["getMessage"]>[1],
  ): Promise<StoredBatch | undefined> {
    try {
      const stored = await this.#state.answerTo(() =>
        this.#manager.direct.getMessage(this.#stream, query),
      );
      return stored === null ? undefined : storedBatch(stored);
    } catch (error) {
      throw unanswered(error);
    }
  }
}
