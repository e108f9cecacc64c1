import type { NatsConnection } from "@nats-io/transport-node";
import { headers } from "@nats-io/transport-node";
import { channelOf } from "@reeve/contracts/channel";
import type { ArchiveSegment } from "@reeve/contracts/archive";
import { ArchivePartSchema } from "@reeve/contracts/archive";
import type { RequestClient } from "@reeve/platform/nats/request-client";
import { requestClientOf } from "@reeve/platform/nats/request-client";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import type { ApiError } from "../../streams/errors.ts";
import { storeFailure } from "../../streams/errors.ts";
import { maxDataBytes } from "../../streams/payload-limit.ts";
import { StreamMessages } from "../../streams/stream-messages.ts";
import { StreamPublisher } from "../../streams/stream-publisher.ts";
import type { StoredBatch } from "../stored-batch.ts";
import type { EncodedSegment } from "./segments.ts";
import { archiveDamaged, decodeSegment } from "./segments.ts";

/** The headers of a part. They say to which log it belongs, and to which end of it. */
export const partHeaders = { log: "Reeve-Archive-Log", tail: "Reeve-Archive-Tail" } as const;

const { stream } = channelOf(ArchivePartSchema);
export const archiveStream = stream?.name ?? "";
const partSubject = channelOf(ArchivePartSchema).subject({});
/** `no message found`: it was deleted before. */
const missingCode = 10037;

/** The log that a segment belongs to. */
export interface ArchivedEnd {
  readonly log: string;
  /** The revision of its last batch. */
  readonly tail: number;
}

/** Stores, reads, and erases the segments of archives. */
export class ArchiveMessages {
  readonly #connection: NatsConnection;
  readonly #messages: StreamMessages;
  readonly #publisher: StreamPublisher;
  readonly #requests: RequestClient;

  constructor(connection: NatsConnection) {
    this.#connection = connection;
    // Whether several servers keep the stream is not known here: a message that one server lacks is requested from the leader.
    this.#messages = new StreamMessages(connection, { name: archiveStream, isReplicated: true });
    this.#publisher = new StreamPublisher(connection);
    this.#requests = requestClientOf(connection);
  }

  /**
   * Stores a segment, in several messages if it is larger than one may be, and reports each sequence before the next one is stored. Throws a
   * Failure of kind `unavailable` if the store does not confirm one, which may then be stored.
   */
  async store(
    { log, tail }: ArchivedEnd,
    { data }: EncodedSegment,
    report: (sequence: number) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const described = headers();
    described.set(partHeaders.log, log);
    described.set(partHeaders.tail, String(tail));
    const maxBytes = maxDataBytes(this.#connection);
    for (let start = 0; start < data.length; start += maxBytes) {
      signal.throwIfAborted();
      const part = data.subarray(start, start + maxBytes);
      const usesReserve = false;
      const reply = await this.#publisher.publish(partSubject, part, described, { usesReserve });
      if (reply.kind === "refused") throw storeFailure(reply.error);
      if (reply.kind === "unanswered") throw storeUnavailable();
      report(reply.sequence);
    }
  }

  /** Returns the batches of a segment. Throws a Failure of kind `data_loss` if a part is missing or differs. */
  async read(log: string, segment: ArchiveSegment): Promise<readonly StoredBatch[]> {
    const parts = await Promise.all(segment.messages.map((seq) => this.#part(log, Number(seq))));
    return await decodeSegment(log, segment, Buffer.concat(parts));
  }

  /** Returns whether the stream has all of the messages, as its leader knows. */
  async has(sequences: readonly number[]): Promise<boolean> {
    for (const seq of sequences) if (await this.#isErased(seq)) return false;
    return true;
  }

  /** Overwrites and removes messages. A missing message is not an error. Needs no room in the store. */
  async erase(sequences: readonly number[]): Promise<void> {
    for (const seq of sequences) {
      const data = JSON.stringify({ seq });
      const reply = await this.#requests.send(`$JS.API.STREAM.MSG.DELETE.${archiveStream}`, {
        data,
      });
      if (reply === undefined) throw storeUnavailable();
      const { error } = reply.json<{ readonly error?: ApiError }>();
      const isMissing = error?.err_code === missingCode || error?.code === 404;
      if (error !== undefined && !isMissing && !(await this.#isErased(seq))) {
        throw storeFailure(error);
      }
    }
  }

  async #isErased(seq: number): Promise<boolean> {
    return (await this.#messages.latest({ seq })) === undefined;
  }

  async #part(log: string, seq: number): Promise<Uint8Array> {
    const message = await this.#messages.stored({ seq });
    if (message === undefined || message.headers.get(partHeaders.log) !== log) {
      throw archiveDamaged(log, `message ${seq} is missing`);
    }
    return message.data;
  }
}
