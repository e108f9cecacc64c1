import type { DeadNotification } from "#contracts/notification";
import type { CallOptions, ListDeadNotificationsOptions } from "./call-options.ts";
import type { Requests } from "./requests.ts";

/** The notifications of the tenant that were given up. Needs the role `operator`. */
export class DeadNotifications {
  readonly #requests: Requests;

  constructor(requests: Requests) {
    this.#requests = requests;
  }

  /** Lists those of the last 30 days that were not replayed. */
  list(
    options: ListDeadNotificationsOptions = {},
  ): AsyncGenerator<DeadNotification, void, undefined> {
    const { receiver = "" } = options;
    return this.#requests.list(async ({ notifications }, page, call) => {
      const request = { receiver, ...page };
      const { notifications: items, nextPageToken } = await notifications.listDeadNotifications(
        request,
        call,
      );
      return { items, nextPageToken };
    }, options);
  }

  /** Queues one again, with the same id. Throws `NOTIFICATION_NOT_FOUND` if it was replayed already. */
  async replay(notificationId: string, options: CallOptions = {}): Promise<void> {
    await this.#requests.once(
      ({ notifications }, call) => notifications.replayNotification({ notificationId }, call),
      options,
    );
  }
}
