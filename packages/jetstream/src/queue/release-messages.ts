import type { JetStreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { sendRequest } from "@reeve/platform/nats/send-request";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import { isNotFound } from "../streams/errors.ts";
import type { HeldGroup } from "./held-messages.ts";

const returned = new TextEncoder().encode("-NAK");
/** How long the queue may take to confirm that it has a message again. */
const confirmMs = 2_000;

/**
 * Makes the messages of a dead taker available to others at once. JetStream accepts an acknowledgement of a message from any
 * connection, if it names a consumer sequence between the last one that is settled and the last one that was delivered.
 * Messages that nobody holds are left as they are. The message of a living taker would be taken from it. Throws a Failure of
 * kind `unavailable` when the queue does not confirm a message, as while a cluster elects the leader of its consumer.
 */
export async function releaseMessages(
  connection: NatsConnection,
  manager: JetStreamManager,
  groups: readonly HeldGroup[],
  signal: AbortSignal,
): Promise<void> {
  const releaseGroup = async ({ stream, consumer, sequences }: HeldGroup) => {
    const delivered = await lastDelivered(manager, stream, consumer);
    if (delivered === undefined) return;
    const release = async (sequence: number) => {
      const subject = `$JS.ACK.${stream}.${consumer}.1.${sequence}.${delivered}.0.0`;
      const message = { data: returned, timeoutMs: confirmMs };
      const { kind } = await sendRequest(connection, subject, message, signal);
      if (kind !== "reply") {
        throw storeUnavailable(new Error(`message ${sequence} of ${stream} was not released`));
      }
    };
    await Promise.all(sequences.map(release));
  };
  // A consumer without a leader must not keep the messages of the others from their next taker.
  const outcomes = await Promise.allSettled(groups.map(releaseGroup));
  for (const outcome of outcomes) {
    if (outcome.status === "rejected") throw outcome.reason;
  }
}

async function lastDelivered(
  manager: JetStreamManager,
  stream: string,
  consumer: string,
): Promise<number | undefined> {
  try {
    const { delivered, num_ack_pending } = await manager.consumers.info(stream, consumer);
    return num_ack_pending === 0 ? undefined : delivered.consumer_seq;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
