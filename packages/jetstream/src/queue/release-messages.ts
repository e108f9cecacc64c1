import type { JetStreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { isNotFound } from "../streams/errors.ts";
import type { HeldGroup } from "./held-messages.ts";

const returned = "-NAK";

/**
 * Makes the messages of a dead taker available to others at once. JetStream accepts an acknowledgement of a message from any
 * connection, if it names a consumer sequence between the last one that is settled and the last one that was delivered.
 * Messages that nobody holds are left as they are. The message of a living taker would be taken from it.
 */
export async function releaseMessages(
  connection: NatsConnection,
  manager: JetStreamManager,
  groups: readonly HeldGroup[],
): Promise<void> {
  for (const { stream, consumer, sequences } of groups) {
    const delivered = await lastDelivered(manager, stream, consumer);
    if (delivered === undefined) continue;
    for (const sequence of sequences) {
      connection.publish(`$JS.ACK.${stream}.${consumer}.1.${sequence}.${delivered}.0.0`, returned);
    }
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
