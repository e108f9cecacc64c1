import type { NatsConnection } from "@nats-io/transport-node";
import type { ArchivedLog } from "@reeve/contracts/archive";
import { StreamMessages } from "../../streams/stream-messages.ts";
import { logsOfPage, pageWildcard } from "./archive-index.ts";
import { archiveStream } from "./archive-messages.ts";
import { archivesOf } from "./log-archives.ts";

/** Yields the logs that the index of archives has, page by page. One that is archived or removed meanwhile may be among them. */
export async function* archivedLogs(
  connection: NatsConnection,
  signal: AbortSignal,
): AsyncIterable<ArchivedLog> {
  if (!(await archivesOf(connection).isInUseNow())) return;
  const pages = new StreamMessages(connection, { name: archiveStream, isReplicated: true });
  for (let reached = 0; ;) {
    signal.throwIfAborted();
    const page = await pages.latest({ next_by_subj: pageWildcard, seq: reached + 1 });
    if (page === undefined) return;
    yield* logsOfPage(page.data);
    reached = page.sequence;
  }
}
