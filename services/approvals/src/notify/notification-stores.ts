import type { Notification } from "@reeve/contracts/notification";
import { DeadNotificationSchema } from "@reeve/contracts/notification";
import type { Notices } from "@reeve/jetstream/notices/nats";
import { openNotices } from "@reeve/jetstream/notices/nats";
import { openNotificationQueue } from "@reeve/jetstream/queue/nats";
import type { WorkQueue } from "@reeve/jetstream/queue/port";
import { openTable } from "@reeve/jetstream/table/nats";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { DeadLetters } from "./dead-letters.ts";
import { laterNotices } from "./later-notices.ts";
import type { NotifySettings } from "./settings/receiver-schema.ts";

/** Where notifications are stored. */
export interface NotificationStores {
  readonly deadLetters: DeadLetters;
  /** The queue of each receiver, by its name. */
  readonly queues: ReadonlyMap<string, WorkQueue<Notification>>;
  /** What programs on the bus read. Undefined: no receiver has the format `nats`. */
  readonly notices: Notices | undefined;
}

/**
 * Returns what opens the stores of notifications, once. Opening waits for the streams, and rejects with a Failure that says how
 * to create them if they stay missing; the next call then tries again.
 */
export function openOnce(
  nats: Nats,
  { receivers }: Pick<NotifySettings, "receivers">,
  ackWaitMs: number,
): () => Promise<NotificationStores> {
  const open = async (): Promise<NotificationStores> => {
    // A letter that a full store refuses stays in the queue of its receiver, and is given up again later.
    const rows = await openTable(nats, DeadNotificationSchema, { usesReserve: false });
    const deadLetters = new DeadLetters(rows);
    const queues = new Map<string, WorkQueue<Notification>>();
    for (const { name: receiver } of receivers) {
      const options = { receiver, ackWaitMs, isConsumer: true };
      queues.set(receiver, await openNotificationQueue(nats, options));
    }
    const isOnBus = receivers.some(({ format }) => format === "nats");
    const notices = isOnBus ? laterNotices(() => openNotices(nats)) : undefined;
    return { deadLetters, queues, notices };
  };
  let opening: Promise<NotificationStores> | undefined;
  return () => {
    opening ??= open().catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
}
