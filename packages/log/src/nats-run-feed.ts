import { setTimeout as wait } from "node:timers/promises";
import type { JsMsg } from "@nats-io/jetstream";
import { AckPolicy, DeliverPolicy, jetstream } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { nanos } from "@nats-io/transport-node";
import { channelOf } from "@reeve/contracts/channel";
import { RunBatchSchema } from "@reeve/contracts/run";
import { runLogDefinition } from "./definitions.ts";
import { isMissing } from "./missing.ts";
import type { FedBatch, RunEventKind, RunFeed } from "./run-feed.ts";
import { batchOf, eventsAfter } from "./stored-batch.ts";
import { managerOf } from "./streams.ts";
import { SubjectReader } from "./subject-reader.ts";

/** How long a reader may take for a batch before it is delivered again. */
const ackWaitMs = 30_000;
const pullMs = 5_000;
const retryMs = 500;

/** What happens in all runs, read from the stream of their logs: headers only, and the payload of what is wanted. */
export async function openRunFeed({
  connection,
}: {
  readonly connection: NatsConnection;
}): Promise<RunFeed> {
  const channel = channelOf(RunBatchSchema);
  const reader = await SubjectReader.open(connection, channel);
  const stream = channel.stream?.name ?? "";
  return {
    async *consume(name, kinds, signal) {
      await ensureConsumer(connection, stream, name);
      const consumer = await jetstream(connection).consumers.get(stream, name);
      while (!signal.aborted) {
        try {
          const messages = await consumer.fetch({ max_messages: 256, expires: pullMs });
          const stop = () => messages.stop();
          signal.addEventListener("abort", stop, { once: true });
          try {
            for await (const message of messages) {
              if (signal.aborted) break;
              const batch = await fed(message, kinds);
              if (batch === undefined) message.ack();
              else yield batch;
            }
          } finally {
            signal.removeEventListener("abort", stop);
            messages.stop();
          }
        } catch {
          // A pull that breaks with its connection is simply made again.
          await wait(retryMs, undefined, { signal });
        }
      }
      signal.throwIfAborted();
    },
  };

  async function fed(
    message: JsMsg,
    kinds: ReadonlySet<RunEventKind>,
  ): Promise<FedBatch | undefined> {
    const { tenant, run } = channel.tokensOf(message.subject) ?? {};
    if (tenant === undefined || run === undefined || message.headers === undefined)
      return undefined;
    const described = batchOf(message.seq, message.headers, message.data);
    if (!described.kinds.some((kind) => kinds.has(kind as RunEventKind))) return undefined;
    const whole = await reader.at(message.seq);
    // A run may be deleted before its batches are read.
    if (whole === undefined) return undefined;
    return {
      key: { tenant, run },
      events: eventsAfter(runLogDefinition, whole, 0),
      acknowledge: () => message.ack(),
    };
  }
}

async function ensureConsumer(
  connection: NatsConnection,
  stream: string,
  name: string,
): Promise<void> {
  const manager = await managerOf(connection);
  try {
    await manager.consumers.info(stream, name);
  } catch (error) {
    if (!isMissing(error)) throw error;
    await manager.consumers.add(stream, {
      durable_name: name,
      ack_policy: AckPolicy.Explicit,
      ack_wait: nanos(ackWaitMs),
      deliver_policy: DeliverPolicy.All,
      headers_only: true,
      max_ack_pending: 1_000,
    });
  }
}
