import { createHash } from "node:crypto";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { NatsConnection } from "@nats-io/transport-node";
import { headers } from "@nats-io/transport-node";
import type { ArchivedLog, ArchivePage } from "@reeve/contracts/archive";
import { ArchivePageSchema } from "@reeve/contracts/archive";
import { channelOf } from "@reeve/contracts/channel";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import { isConflict, storeFailure } from "../../streams/errors.ts";
import { removeSubject } from "../../streams/remove-subject.ts";
import { StreamMessages } from "../../streams/stream-messages.ts";
import { StreamPublisher } from "../../streams/stream-publisher.ts";
import { expectedLastHeader } from "../stored-batch.ts";
import { archiveStream } from "./archive-messages.ts";

/** Over how many subjects the index is spread. Never changes: a log is found by its page. */
const pages = 16_384;
const maxAttempts = 20;
const channel = channelOf(ArchivePageSchema);

/** The wildcard of all pages. */
export const pageWildcard = channel.wildcard;

interface StoredPage {
  readonly revision: number;
  readonly logs: readonly ArchivedLog[];
}

/** The index of archived logs, in pages that are replaced by compare-and-write. */
export class ArchiveIndex {
  readonly #connection: NatsConnection;
  readonly #messages: StreamMessages;
  readonly #publisher: StreamPublisher;

  constructor(connection: NatsConnection) {
    this.#connection = connection;
    // A page may have changed, so the leader is asked.
    this.#messages = new StreamMessages(connection, { name: archiveStream, isReplicated: true });
    this.#publisher = new StreamPublisher(connection);
  }

  /** Returns what the index knows of a log. Undefined: it is not archived. */
  async get(log: string): Promise<ArchivedLog | undefined> {
    return (await this.#page(subjectOf(log))).logs.find((each) => each.log === log);
  }

  /** Adds a log, or replaces what the index knows of it. */
  async put(entry: ArchivedLog): Promise<void> {
    await this.#change(entry.log, (others) => [...others, entry], false);
  }

  /** Removes a log, if it has this marker. A missing log is not an error. Needs no room in the store. */
  async remove({ log, marker }: Pick<ArchivedLog, "log" | "marker">): Promise<void> {
    if ((await this.get(log))?.marker !== marker) return;
    await this.#change(log, (others) => others, true);
  }

  async #change(
    log: string,
    changed: (others: readonly ArchivedLog[]) => readonly ArchivedLog[],
    usesReserve: boolean,
  ): Promise<void> {
    const subject = subjectOf(log);
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const { revision, logs } = await this.#page(subject);
      const next = changed(logs.filter((each) => each.log !== log));
      const described = headers();
      described.set(expectedLastHeader, String(revision));
      const data = toBinary(ArchivePageSchema, create(ArchivePageSchema, { logs: [...next] }));
      const reply = await this.#publisher.publish(subject, data, described, { usesReserve });
      if (reply.kind === "unanswered") throw storeUnavailable();
      if (reply.kind === "refused" && !isConflict(reply.error)) throw storeFailure(reply.error);
      if (reply.kind === "refused") continue;
      // An interruption before this leaves the earlier version until the next change of the page.
      if (revision > 0) await removeSubject(this.#connection, archiveStream, subject, revision);
      return;
    }
    throw storeUnavailable(
      new Error(`${subject} was changed by others in ${maxAttempts} attempts`),
    );
  }

  async #page(subject: string): Promise<StoredPage> {
    const message = await this.#messages.latest({ last_by_subj: subject });
    if (message === undefined) return { revision: 0, logs: [] };
    return { revision: message.sequence, logs: logsOfPage(message.data) };
  }
}

/** Returns the logs of a page as it is stored. */
export function logsOfPage(data: Uint8Array): ArchivePage["logs"] {
  return fromBinary(ArchivePageSchema, data).logs;
}

function subjectOf(log: string): string {
  const page = createHash("sha256").update(log).digest().readUInt32BE(0) % pages;
  return channel.subject({ page: String(page) });
}
