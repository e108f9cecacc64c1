import type { StreamAPI } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { requestClientOf } from "@reeve/platform/nats/request-client";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import { callStore } from "./call-store.ts";
import { openJetStreamManager } from "./ensure-stream.ts";

/** How many messages are deleted at a time on a server that does not account for purges. */
const maxPending = 16;
/** The first release of nats-server 2.9 that was found to account for purges. */
const firstPatch = 25;

/**
 * Removes the messages of a subject from a stream, up to the sequence `through`, or all. Servers that purge correctly remove all at once. On an older server the
 * messages are deleted one by one, oldest first, so that one that stops in between leaves the newest ones.
 */
export async function removeSubject(
  connection: NatsConnection,
  stream: string,
  subject: string,
  through = Infinity,
): Promise<void> {
  const { streams } = await callStore(() => openJetStreamManager(connection));
  if (!accountsForPurges(connection.info?.version ?? "")) {
    await deleteEach(connection, streams, { stream, subject, through });
  }
  const bound = Number.isFinite(through) && { seq: through + 1 };
  await callStore(() => streams.purge(stream, { filter: subject, ...bound }));
}

/** Whether the room of messages that are purged by their subject is free at once, and not only after a restart of the server. */
function accountsForPurges(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.+-]/, 3).map(Number);
  return major !== 2 || minor !== 9 || patch >= firstPatch;
}

interface SubjectOfStream {
  readonly stream: string;
  readonly subject: string;
  readonly through: number;
}

async function deleteEach(
  connection: NatsConnection,
  streams: StreamAPI,
  { stream, subject, through }: SubjectOfStream,
): Promise<void> {
  const requests = requestClientOf(connection);
  const last = await callStore(() => streams.getMessage(stream, { last_by_subj: subject }));
  if (last === null) return;
  const end = Math.min(last.seq, through);
  const remove = async (sequence: number) => {
    const data = JSON.stringify({ seq: sequence, no_erase: true });
    const reply = await requests.send(`$JS.API.STREAM.MSG.DELETE.${stream}`, { data });
    if (reply === undefined) throw storeUnavailable();
  };
  let pending: Promise<void>[] = [];
  let seq = 0;
  for (;;) {
    const query = { next_by_subj: subject, seq: seq + 1 };
    const next = await callStore(() => streams.getMessage(stream, query));
    if (next === null || next.seq >= end) break;
    ({ seq } = next);
    const removing = remove(seq);
    // Another one may fail before this one is waited for.
    removing.catch(() => undefined);
    pending.push(removing);
    if (pending.length < maxPending) continue;
    await Promise.all(pending);
    pending = [];
  }
  await Promise.all(pending);
  await remove(end);
}
