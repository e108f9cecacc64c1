import type { JsMsg } from "@nats-io/jetstream";
import { DeliverPolicy, jetstream } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { nanos } from "@nats-io/transport-node";
import { channelOf } from "@reeve/contracts/channel";
import { ArchivePartSchema } from "@reeve/contracts/archive";
import { RunBatchSchema } from "@reeve/contracts/run";
import { callStore } from "../../streams/call-store.ts";
import { ensureConsumer } from "../../streams/ensure-consumer.ts";
import { openJetStreamManager } from "../../streams/ensure-stream.ts";
import { openShards } from "../../streams/shards/open-shards.ts";
import { SubjectReader } from "../reading/subject-reader.ts";
import { archiveStream, partHeaders } from "./archive-messages.ts";
import { archiveOf } from "./marker.ts";
import { archivesOf, messagesOf } from "./log-archives.ts";

const consumerName = "archive-orphans";
const maxMessages = 200;
const pullMs = 1_000;
/** Delay before a part that no marker names is checked again: its archiver may still be working. */
const retryMs = 3_600_000;

/**
 * Looks once at each part that was stored since the last call, and erases those that nothing names and nothing can name any more: their
 * archiver died, and their log has another end. Returns how many it erased.
 */
export async function eraseOrphans(
  { connection }: { readonly connection: NatsConnection },
  signal: AbortSignal,
  { firstLookMs = retryMs } = {},
): Promise<number> {
  const manager = await openJetStreamManager(connection);
  const durable = {
    durable_name: consumerName,
    max_ack_pending: 10_000,
    ack_wait: nanos(30_000),
    headers_only: true,
    deliver_policy: DeliverPolicy.All,
    filter_subject: channelOf(ArchivePartSchema).subject({}),
  };
  await ensureConsumer(manager, archiveStream, durable, { isConsumer: true });
  const shards = await openShards(connection, RunBatchSchema);
  const readers = shards.map(({ channel, place }) => ({
    channel,
    reader: new SubjectReader(connection, place),
  }));
  const archives = archivesOf(connection);

  /** Returns whether the part is named, erased, or may still be named. */
  async function look(message: JsMsg): Promise<"named" | "erased" | "undecided"> {
    const log = message.headers?.get(partHeaders.log) ?? "";
    const tail = Number(message.headers?.get(partHeaders.tail));
    if (Date.now() - Date.parse(message.timestamp) < firstLookMs) return "undecided";
    const known = await archives.index.get(log);
    if (known?.archive && messagesOf(known.archive).includes(message.seq)) return "named";
    const shard = readers.find(({ channel }) => channel.tokensOf(log) !== undefined);
    if (shard === undefined) return "undecided";
    await shard.reader.settle();
    // Its archiver can only append a marker directly after the tail.
    const [first, next] = [await shard.reader.next(log, 0), await shard.reader.next(log, tail)];
    const isNamed = [first, next].some(
      (each) => each?.marker !== undefined && messagesOf(archiveOf(each)).includes(message.seq),
    );
    if (isNamed || (first !== undefined && next === undefined)) return "undecided";
    // A marker may have been removed since the index was read.
    const later = await archives.index.get(log);
    if (later?.archive && messagesOf(later.archive).includes(message.seq)) return "named";
    await archives.messages.erase([message.seq]);
    return "erased";
  }

  let erased = 0;
  const consumer = await callStore(() =>
    jetstream(connection).consumers.get(archiveStream, consumerName),
  );
  for (;;) {
    const messages = await callStore(() =>
      consumer.fetch({ max_messages: maxMessages, expires: pullMs }),
    );
    let count = 0;
    for await (const message of messages) {
      signal.throwIfAborted();
      count++;
      const outcome = await look(message);
      if (outcome === "undecided") message.nak(retryMs);
      else message.ack();
      if (outcome === "erased") erased++;
    }
    if (count < maxMessages) return erased;
  }
}
