import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { bucketOf } from "@reeve/contracts/channel";
import type { DeadNotification, Notification } from "@reeve/contracts/notification";
import { DeadNotificationSchema } from "@reeve/contracts/notification";
import type { Table } from "@reeve/jetstream/table/port";

const { key: keyOf } = bucketOf(DeadNotificationSchema);

/** A notification that is given up. */
export interface GivenUp {
  readonly notification: Notification;
  readonly problem: string;
  readonly attempts: number;
  readonly nowMs: number;
}

/** The notifications that were given up, until they are replayed or expire. */
export class DeadLetters {
  readonly #rows: Table<DeadNotification>;

  constructor(rows: Table<DeadNotification>) {
    this.#rows = rows;
  }

  /** Stores a notification, which is durable when this returns. A repetition replaces it. */
  async add(
    { notification, problem, attempts, nowMs }: GivenUp,
    signal: AbortSignal,
  ): Promise<void> {
    const { tenant, notificationId } = notification;
    const dead = create(DeadNotificationSchema, {
      notification,
      problem,
      attempts,
      givenUpAt: timestampFromMs(nowMs),
    });
    await this.#rows.put(keyOf({ tenant, notification: notificationId }), dead, signal);
  }
}
