import type { Notification } from "@reeve/contracts/notification";
import type { WorkQueue } from "@reeve/jetstream/queue/port";
import type { Receiver } from "./settings/receiver-schema.ts";

/** A receiver, and the queue of its notifications. */
export interface ReceiverQueue {
  readonly receiver: Receiver;
  readonly queue: WorkQueue<Notification>;
}
