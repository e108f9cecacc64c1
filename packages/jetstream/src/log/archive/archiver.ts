import { randomBytes } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import type { NatsConnection } from "@nats-io/transport-node";
import type { LogArchive } from "@reeve/contracts/archive";
import {
  ArchivedLogSchema,
  ArchivePageSchema,
  ArchivePartSchema,
  ArchiveSegmentSchema,
  LogArchiveSchema,
} from "@reeve/contracts/archive";
import { channelOf } from "@reeve/contracts/channel";
import { RunBatchSchema } from "@reeve/contracts/run";
import { ErrorReason } from "@reeve/contracts/error";
import { shardOf } from "@reeve/contracts/shard-of";
import { Failure } from "@reeve/platform/failure";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import { isConflict, storeFailure } from "../../streams/errors.ts";
import { ensureStream, openJetStreamManager } from "../../streams/ensure-stream.ts";
import type { OpenShard } from "../../streams/shards/open-shards.ts";
import { openShards } from "../../streams/shards/open-shards.ts";
import { StreamMessages } from "../../streams/stream-messages.ts";
import { StreamPublisher } from "../../streams/stream-publisher.ts";
import { liveHubOf } from "../follow/live-hub.ts";
import { SubjectReader } from "../reading/subject-reader.ts";
import type { RunKey } from "../run-log.ts";
import type { StoredBatch } from "../stored-batch.ts";
import { markerGraceMs } from "./archive-use.ts";
import type { ArchiveOutcome, LogArchiver } from "./port.ts";
import type { LogArchives } from "./log-archives.ts";
import { archivesOf, messagesOf } from "./log-archives.ts";
import { archiveOf, markerMessage } from "./marker.ts";
import { encodeSegment, SegmentCutter } from "./segments.ts";

/** How much of a log is read at a time. */
const readBytes = 4 * 1024 * 1024;

export interface ArchiverOptions {
  /** How long the marker of a closed log stays in it. Default: an hour. Less is for tests with one process. */
  readonly graceMs?: number;
}

/** Opens the archiver of the logs of runs, and creates the stream of archives if it is missing. */
export async function openArchiver(
  { connection }: { readonly connection: NatsConnection },
  { graceMs = markerGraceMs }: ArchiverOptions = {},
): Promise<LogArchiver<RunKey>> {
  const manager = await openJetStreamManager(connection);
  await ensureStream(connection, manager, channelOf(ArchivePartSchema));
  await ensureStream(connection, manager, channelOf(ArchivePageSchema));
  const shards = await openShards(connection, RunBatchSchema);
  const archivers = shards.map((shard) => new ShardArchiver(connection, shard, graceMs));
  return {
    archive: async ({ tenant, run }, signal) => {
      const archiver = archivers[shardOf({ tenant, run }, archivers.length)];
      if (archiver === undefined) throw new RangeError("the log has no shards");
      return await archiver.archive({ tenant, run }, signal);
    },
  };
}

/**
 * Moves logs of one stream to the archive. Each step is durable before the next one, and can be repeated:
 *
 * 1. The batches are stored in the stream of archives, and read back.
 * 2. A marker that names them is appended after the last batch. If the log has another end by then, what was stored is erased. From here
 *    on, readers use the archive, and appends open the log first.
 * 3. The index names them. If the log is gone by then, it forgets them again.
 * 4. The archive is read again, and the batches are removed from the stream of the log.
 * 5. Long after, when every process knows that there is an index, the marker is removed.
 */
class ShardArchiver {
  readonly #connection: NatsConnection;
  readonly #shard: OpenShard;
  readonly #graceMs: number;
  readonly #archives: LogArchives;
  readonly #reader: SubjectReader;
  readonly #stored: StreamMessages;
  readonly #publisher: StreamPublisher;

  constructor(connection: NatsConnection, shard: OpenShard, graceMs: number) {
    this.#connection = connection;
    this.#shard = shard;
    this.#graceMs = graceMs;
    this.#archives = archivesOf(connection);
    // Without archives: it reads what the stream has.
    this.#reader = new SubjectReader(connection, shard.place);
    this.#stored = new StreamMessages(connection, shard.place);
    this.#publisher = new StreamPublisher(connection);
  }

  async archive(key: RunKey, signal: AbortSignal): Promise<ArchiveOutcome> {
    const log = this.#shard.channel.subject({ ...key });
    await this.#reader.settle();
    const [first, end] = [await this.#reader.next(log, 0), await this.#reader.end(log)];
    if (first === undefined || end === undefined) return "nothing";
    // What is left of a log without its archive looks like one that lacks its first event.
    if (end.last < 2) return "nothing";
    const marker = [first, end].find((each) => each.marker !== undefined);
    if (marker !== undefined) return await this.#finish(log, marker);
    const sequences: number[] = [];
    let stored: LogArchive | StoredBatch;
    try {
      stored = await this.#store(log, end, (sequence) => sequences.push(sequence), signal);
    } catch (error) {
      await this.#archives.messages.erase(sequences).catch(() => undefined);
      throw error;
    }
    if ("revision" in stored) {
      await this.#archives.messages.erase(sequences);
      return await this.#finish(log, stored);
    }
    const next = await this.#close(log, stored, end);
    if (next === undefined) return "changed";
    if (next !== "other") return await this.#finish(log, next);
    await this.#archives.messages.erase(sequences);
    return "changed";
  }

  /** Stores the batches of a log. Returns a marker instead, if the log has one. */
  async #store(
    log: string,
    end: StoredBatch,
    report: (sequence: number) => void,
    signal: AbortSignal,
  ): Promise<LogArchive | StoredBatch> {
    const { messages } = this.#archives;
    const archive = create(LogArchiveSchema, {
      lastSequence: end.last,
      lastRevision: BigInt(end.revision),
      digest: end.digest,
      kinds: [...end.kinds],
    });
    const write = async (batches: readonly StoredBatch[] | undefined) => {
      if (batches === undefined) return;
      const encoded = await encodeSegment(batches);
      const parts: number[] = [];
      const place = { log, tail: end.revision };
      await messages.store(
        place,
        encoded,
        (sequence) => {
          parts.push(sequence);
          report(sequence);
        },
        signal,
      );
      const { compression, digest } = encoded;
      const lastSequence = batches.at(-1)?.last ?? 0;
      const segment = { lastSequence, messages: parts.map(BigInt), compression, digest };
      archive.segments.push(create(ArchiveSegmentSchema, segment));
    };
    const cutter = new SegmentCutter();
    let [sequence, revision] = [0, 0];
    while (revision < end.revision) {
      const range = { after: revision, to: end.revision };
      const part = await this.#reader.messages(log, range, readBytes, signal);
      for (const batch of part) {
        if (batch.marker !== undefined) return batch;
        if (revision === 0) archive.firstRevision = BigInt(batch.revision);
        if (batch.first !== sequence + 1 || batch.last < batch.first) throw withGap(log, sequence);
        ({ last: sequence, revision } = batch);
        await write(cutter.add(batch));
      }
      if (part.length === 0) throw withGap(log, sequence);
    }
    await write(cutter.rest());
    for (const segment of archive.segments) await messages.read(log, segment);
    return archive;
  }

  /**
   * Appends a marker after the last batch, and returns it. `other`: the log continues with something else, so that no message can name what
   * was stored. Undefined: the log does not show it.
   */
  async #close(
    log: string,
    archive: LogArchive,
    { revision: expectedLast }: StoredBatch,
  ): Promise<StoredBatch | "other" | undefined> {
    const write = randomBytes(12).toString("base64url");
    const { data, headers } = markerMessage(archive, "closed", { expectedLast, write });
    const reply = await this.#publisher.publish(log, data, headers, { usesReserve: false });
    if (reply.kind === "refused" && !isConflict(reply.error)) throw storeFailure(reply.error);
    // What was stored stays until it is known whether the marker names it.
    if (reply.kind === "unanswered") throw storeUnavailable();
    // A server that has just become the leader may refuse what it has stored. Batches may follow it already.
    const next = await this.#reader.next(log, expectedLast);
    if (next === undefined || next.write === write) return next;
    return reply.kind === "stored" ? undefined : "other";
  }

  /** Does what is left to do for a log with a marker. */
  async #finish(log: string, marker: StoredBatch): Promise<ArchiveOutcome> {
    if (marker.marker === undefined) return "changed";
    const { index } = this.#archives;
    const archive = archiveOf(marker);
    const known = await index.get(log);
    const named = BigInt(marker.revision);
    const isOpen = marker.marker === "open";
    // The log was deleted, and another one with its name was archived since.
    if (known !== undefined && known.marker > named) return "changed";
    const isNamed = known !== undefined && (isOpen || known.marker === named);
    if (isNamed && isOpen) return "archived";
    if (!isNamed) await index.put(create(ArchivedLogSchema, { log, marker: named, archive }));
    await this.#reader.settle();
    const stored = await this.#stored.assigned(marker.revision);
    if (stored === undefined) {
      // A deletion erases the archive before it removes the marker. Another archiver, which was first, does not.
      if (await this.#archives.messages.has(messagesOf(archive))) return "archived";
      await index.remove({ log, marker: named });
      return "changed";
    }
    if (isOpen) return "archived";
    // Nothing is removed that cannot be read from the archive, which another archiver may have stored.
    for (const segment of archive.segments) await this.#archives.messages.read(log, segment);
    const isOver = Date.now() - Date.parse(stored.storedAt) >= this.#graceMs;
    const through = isOver ? marker.revision : Number(archive.lastRevision);
    await this.#reader.removeMessages(log, through);
    liveHubOf(this.#connection)?.written.forget(log);
    return isOver ? "archived" : "closed";
  }
}

function withGap(log: string, sequence: number): Failure {
  const message = `the log ${log} is not archived: its batches have a gap after sequence ${sequence}; \`reeve verify\` shows what it lacks`;
  return new Failure("internal", ErrorReason.INTERNAL, message);
}
