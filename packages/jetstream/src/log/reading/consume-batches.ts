import type { Consumer, JetStreamClient } from "@nats-io/jetstream";
import { DeliverPolicy } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { headers } from "@nats-io/transport-node";
import { IdleTimeout } from "@reeve/platform/async/idle-timeout";
import { onAbort } from "@reeve/platform/async/on-abort";
import { connectionStateOf } from "@reeve/platform/nats/connection-state";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import { maxPayloadBytes } from "../../streams/payload-limit.ts";
import { whenUnanswered } from "../../streams/when-unanswered.ts";
import { bytesOf } from "./batch-size.ts";
import type { StoredBatch } from "../stored-batch.ts";
import { batchFromHeaders } from "../stored-batch.ts";

/** How long a consumer may deliver nothing although more is stored. */
const idleTimeoutMs = 5_000;
/** How much a server may have to send at a time: it closes a connection for which it holds more than 64 MiB. */
const maxPulledBytes = 8 * 1024 * 1024;

/** The stream from which batches are read. */
export interface BatchSource {
  readonly connection: NatsConnection;
  readonly client: JetStreamClient;
  readonly stream: string;
}

/** The batches of a subject between two revisions, both included. */
export interface ConsumedRange {
  readonly subject: string;
  readonly from: number;
  readonly to: number;
  /** Read all of them, or about this many bytes. */
  readonly maxBytes: number;
}

/** Reads batches of a subject with a consumer, which is deleted afterwards. One that was stored without headers has the sequence 0. */
export async function consumeBatches(
  { connection, client, stream }: BatchSource,
  { subject, from, to, maxBytes }: ConsumedRange,
  signal: AbortSignal,
): Promise<readonly StoredBatch[]> {
  using resources = new DisposableStack();
  // Messages in flight are lost with the connection, and the consumer may be lost with its server.
  const lost = new AbortController();
  resources.defer(connectionStateOf(connection).onChange(() => lost.abort(storeUnavailable())));
  const options = { timeoutMs: idleTimeoutMs, reason: () => storeUnavailable() };
  const idle = resources.use(new IdleTimeout(options, AbortSignal.any([signal, lost.signal])));
  const batches: StoredBatch[] = [];
  let bytes = 0;
  let consumer: Consumer | undefined;
  try {
    consumer = await client.consumers.get(stream, {
      filter_subjects: subject,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: from,
    });
    const messages = await consumer.consume({ max_messages: maxPulledMessages(connection) });
    resources.use(onAbort(idle.signal, () => messages.stop()));
    void whenUnanswered(messages, () => lost.abort(storeUnavailable()));
    for await (const message of messages) {
      idle.restart();
      batches.push(batchFromHeaders(message.seq, message.headers ?? headers(), message.data));
      bytes += bytesOf(message);
      if (message.seq >= to || bytes >= maxBytes) return batches;
    }
  } catch (error) {
    idle.signal.throwIfAborted();
    throw storeUnavailable(error);
  } finally {
    void consumer?.delete().catch(() => undefined);
  }
  idle.signal.throwIfAborted();
  throw storeUnavailable();
}

/**
 * Returns how many batches to request at a time: as many as stay within the limit when each has the largest size. A pull that
 * is limited by bytes instead ends at the first message that exceeds the rest of the limit, and the client continues only
 * after a long timeout. So a large batch after many small ones would not arrive.
 */
function maxPulledMessages(connection: NatsConnection): number {
  return Math.max(1, Math.floor(maxPulledBytes / maxPayloadBytes(connection)));
}
