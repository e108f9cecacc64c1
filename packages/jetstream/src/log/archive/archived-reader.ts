import type { NatsConnection } from "@nats-io/transport-node";
import type { StreamPlace } from "../../streams/stream-messages.ts";
import type { Tail } from "../port.ts";
import type { ReaderOptions, ReadLimits, RevisionRange } from "../reading/subject-reader.ts";
import { SubjectReader } from "../reading/subject-reader.ts";
import type { BatchRange, Position } from "../reading/walk-batches.ts";
import type { StoredBatch } from "../stored-batch.ts";
import type { LogArchives } from "./log-archives.ts";
import { readingArchive } from "./log-archives.ts";
import { isArchiveDamaged } from "./segments.ts";
import { withArchived, withArchivedRaw } from "./with-archived.ts";

/** Reads the batches of one subject, whether its stream has them or an archive. */
export class ArchivedReader extends SubjectReader {
  readonly #archives: LogArchives;

  constructor(
    connection: NatsConnection,
    stream: StreamPlace,
    archives: LogArchives,
    options?: ReaderOptions,
  ) {
    super(connection, stream, options);
    this.#archives = archives;
  }

  override async settle(): Promise<void> {
    if (!this.isReplicated) return;
    await Promise.all([super.settle(), this.#archives.settle()]);
  }

  override async last(
    subject: string,
    limits: { readonly mayLag: boolean },
    signal: AbortSignal,
  ): Promise<StoredBatch | undefined> {
    const read = async () => {
      const end = await this.end(subject, limits);
      return end?.marker === undefined ? end : await this.#archives.last(subject, end);
    };
    return await readingArchive(read, signal);
  }

  /** As that of a subject reader. The end of an archived subject without messages is its marker. */
  override async end(
    subject: string,
    { mayLag } = { mayLag: false },
  ): Promise<StoredBatch | undefined> {
    const last = await this.lastMessage(subject, mayLag);
    return last ?? (await this.#archives.closedMarker(subject));
  }

  override async isArchived(subject: string): Promise<boolean> {
    return await this.#archives.has(subject);
  }

  override async open(subject: string, tail: Tail): Promise<Tail | undefined> {
    const end = await this.lastMessage(subject);
    const revision = await this.#archives.open(subject, end, tail);
    if (revision === undefined) return undefined;
    if (end === undefined && (await this.#archives.index.get(subject)) === undefined) {
      // It was deleted meanwhile.
      await this.removeMessages(subject, revision);
      return undefined;
    }
    return { ...tail, revision };
  }

  /** Erases the archives of the subject first: as long as it has a marker, a repetition finds them. */
  protected override async erase(subject: string, through: number): Promise<void> {
    if (!(await this.#archives.isInUseNow())) return;
    const markers = [await this.next(subject, 0), await this.lastMessage(subject)];
    await this.#archives.erase(subject, markers, through);
  }

  /** As that of a subject reader. A marker among the batches follows what was archived. */
  override async after(
    subject: string,
    position: Position,
    limits: ReadLimits,
    signal: AbortSignal,
  ): Promise<BatchRange> {
    const archives = this.#archives;
    const after = { ...position, revision: Math.abs(position.revision) };
    const read = async () => {
      const range = await super.after(subject, after, limits, signal);
      const { sequence } = after;
      return await withArchived({ archives, subject }, range, sequence, limits.maxBytes, signal);
    };
    return await readingArchive(read, signal);
  }

  override async inOrder(
    subject: string,
    range: RevisionRange,
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<readonly StoredBatch[]> {
    const archives = this.#archives;
    const read = async () => {
      const messages = await this.messages(subject, range, maxBytes, signal);
      const marker = messages.length > 0 ? undefined : await archives.closedMarker(subject);
      const stored = marker === undefined ? messages : [marker];
      const { after } = range;
      return await withArchivedRaw({ archives, subject }, stored, after, maxBytes, signal);
    };
    return await readingArchive(read, signal).catch(async (error: unknown) => {
      const first = (await this.next(subject, 0)) ?? (await archives.closedMarker(subject));
      if (range.after > 0 || first?.marker === undefined || !isArchiveDamaged(error)) throw error;
      // What is left of a log whose deletion was interrupted.
      return [{ ...first, first: first.last }];
    });
  }
}
