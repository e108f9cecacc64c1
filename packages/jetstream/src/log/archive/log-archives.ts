import { randomBytes } from "node:crypto";
import type { NatsConnection } from "@nats-io/transport-node";
import type { LogArchive } from "@reeve/contracts/archive";
import { sleep } from "@reeve/platform/async/sleep";
import type { RequestClient } from "@reeve/platform/nats/request-client";
import { requestClientOf } from "@reeve/platform/nats/request-client";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import { isConflict, storeFailure } from "../../streams/errors.ts";
import { settleStream } from "../../streams/settle-stream.ts";
import { StreamPublisher } from "../../streams/stream-publisher.ts";
import type { Tail } from "../port.ts";
import { bytesOf } from "../reading/batch-size.ts";
import type { StoredBatch } from "../stored-batch.ts";
import { ArchiveIndex } from "./archive-index.ts";
import { ArchiveMessages, archiveStream } from "./archive-messages.ts";
import { ArchiveUse } from "./archive-use.ts";
import { archiveOf, markerMessage, markerOf, tailRevision } from "./marker.ts";
import { archiveDamaged, isArchiveDamaged } from "./segments.ts";

/** How many times a read is attempted of an archive that lacks something: its log may be being deleted. */
const maxAttempts = 4;
const retryMs = 150;

/** Batches of an archive: the first ones of those that were requested. */
export interface ArchivedRange {
  readonly batches: readonly StoredBatch[];
  readonly isComplete: boolean;
}

/** The archives of a store, for the readers and writers of its logs. */
export class LogArchives {
  readonly index: ArchiveIndex;
  readonly messages: ArchiveMessages;
  readonly #use: ArchiveUse;
  readonly #publisher: StreamPublisher;
  readonly #requests: RequestClient;

  constructor(connection: NatsConnection) {
    this.index = new ArchiveIndex(connection);
    this.messages = new ArchiveMessages(connection);
    this.#use = new ArchiveUse(connection);
    this.#publisher = new StreamPublisher(connection);
    this.#requests = requestClientOf(connection);
    // The first log that is created need not wait for it.
    this.#use.isInUseNow().catch(() => undefined);
  }

  /** Returns the marker of a log that has no messages. Undefined: it is not archived. */
  async closedMarker(subject: string): Promise<StoredBatch | undefined> {
    if (!(await this.#use.isInUse())) return undefined;
    const entry = await this.index.get(subject);
    return entry?.archive && markerOf(entry.archive, Number(entry.marker));
  }

  /** Reads the first batches after a position, of about `maxBytes`. The position is a sequence, or the revision of a batch. */
  async read(
    subject: string,
    marker: StoredBatch,
    after: { readonly sequence: number } | { readonly revision: number },
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<ArchivedRange> {
    const { segments, lastRevision } = archiveOf(marker);
    if ("revision" in after && after.revision >= Number(lastRevision)) {
      return { batches: [], isComplete: true };
    }
    const isAfter = (batch: StoredBatch) =>
      "sequence" in after ? batch.last > after.sequence : batch.revision > after.revision;
    const batches: StoredBatch[] = [];
    let bytes = 0;
    for (const segment of segments) {
      if ("sequence" in after && segment.lastSequence <= after.sequence) continue;
      signal.throwIfAborted();
      for (const batch of await this.messages.read(subject, segment)) {
        if (!isAfter(batch)) continue;
        if (bytes >= maxBytes) return { batches, isComplete: false };
        batches.push(batch);
        bytes += bytesOf(batch);
      }
    }
    return { batches, isComplete: true };
  }

  /** Returns the last batch of an archive, with the revision of the tail that its marker describes. */
  async last(subject: string, marker: StoredBatch): Promise<StoredBatch> {
    const segment = archiveOf(marker).segments.at(-1);
    const batch = segment && (await this.messages.read(subject, segment)).at(-1);
    if (batch === undefined) throw archiveDamaged(subject, "it has no batches");
    return { ...batch, revision: tailRevision(marker) };
  }

  /**
   * Opens a closed log, so that batches can follow `tail`. `end` is its last message. Returns the revision that they name; undefined if the
   * log has another end.
   */
  async open(
    subject: string,
    end: StoredBatch | undefined,
    tail: Tail,
  ): Promise<number | undefined> {
    if (end?.marker === "open" && end.last === tail.sequence) return end.revision;
    const archive = await this.#archiveToOpen(subject, end, tail);
    if (archive === undefined) return undefined;
    const write = randomBytes(12).toString("base64url");
    const expectedLast = end?.revision ?? 0;
    const { data, headers } = markerMessage(archive, "open", { expectedLast, write });
    const reply = await this.#publisher.publish(subject, data, headers, { usesReserve: true });
    // Whether it is stored or not, a repetition finds the log as it is.
    if (reply.kind === "unanswered") throw storeUnavailable();
    if (reply.kind === "refused" && !isConflict(reply.error)) throw storeFailure(reply.error);
    return reply.kind === "stored" ? reply.sequence : undefined;
  }

  /** Returns whether a log that is to be created is archived. */
  async has(subject: string): Promise<boolean> {
    return (await this.closedMarker(subject)) !== undefined;
  }

  /**
   * Erases the archives of a log whose first batch has a revision up to `through`: the one that the index knows, and those that `markers` of
   * the log name. Can be repeated.
   */
  async erase(
    subject: string,
    markers: readonly (StoredBatch | undefined)[],
    through: number,
  ): Promise<void> {
    const entry = await this.index.get(subject);
    const isDue = (archive: LogArchive) => Number(archive.firstRevision) <= through;
    const named = markers.flatMap((each) => (each?.marker === undefined ? [] : [archiveOf(each)]));
    for (const archive of [...named, ...(entry?.archive ? [entry.archive] : [])]) {
      if (isDue(archive)) await this.messages.erase(messagesOf(archive));
    }
    if (entry?.archive && isDue(entry.archive)) await this.index.remove(entry);
  }

  /** As the `settle` of a reader, for the index. Costs nothing while there are no archives. */
  async settle(): Promise<void> {
    if (await this.#use.isInUse()) await settleStream(this.#requests, archiveStream);
  }

  /** Returns whether the store has an archive at this moment. */
  async isInUseNow(): Promise<boolean> {
    return await this.#use.isInUseNow();
  }

  async #archiveToOpen(
    subject: string,
    end: StoredBatch | undefined,
    { revision }: Tail,
  ): Promise<LogArchive | undefined> {
    const closed = end ?? (await this.closedMarker(subject));
    const isThat = closed?.marker === "closed" && tailRevision(closed) === revision;
    return isThat ? archiveOf(closed) : undefined;
  }
}

/** Returns the sequences of all messages of an archive. */
export function messagesOf({ segments }: LogArchive): readonly number[] {
  return segments.flatMap(({ messages }) => messages.map(Number));
}

/** Reads an archived log. One that is being deleted may lack its archive for a moment, before it is gone. */
export async function readingArchive<Result>(
  read: () => Promise<Result>,
  signal: AbortSignal,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await read();
    } catch (error) {
      if (!isArchiveDamaged(error) || attempt === maxAttempts) throw error;
      await sleep(retryMs * attempt, signal);
    }
  }
}

const archives = new WeakMap<NatsConnection, LogArchives>();

/** Returns the archives of the store of a connection. All callers share one object. */
export function archivesOf(connection: NatsConnection): LogArchives {
  const known = archives.get(connection) ?? new LogArchives(connection);
  archives.set(connection, known);
  return known;
}
