import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { bucketOf } from "@reeve/contracts/channel";
import { ErrorReason } from "@reeve/contracts/error";
import type { DeadNotification, Notification } from "@reeve/contracts/notification";
import { DeadNotificationSchema, NotificationSchema } from "@reeve/contracts/notification";
import type { WorkQueue } from "@reeve/jetstream/queue/port";
import type { Page, PageRequest } from "@reeve/jetstream/table/page";
import { keyOfToken, maxPageBytes, pageOf, pageSizeOf } from "@reeve/jetstream/table/page";
import { Failure } from "@reeve/platform/failure";
import type { Row, Table } from "@reeve/jetstream/table/port";
import { WalkedKeys } from "./walked-keys.ts";

const { key: keyOf } = bucketOf(DeadNotificationSchema);

/** A notification that is given up. */
export interface GivenUp {
  readonly notification: Notification;
  readonly problem: string;
  readonly attempts: number;
  readonly nowMs: number;
}

/** The queues of the receivers in the settings, by name. */
export type ReceiverQueues = ReadonlyMap<string, Pick<WorkQueue<Notification>, "publish">>;

/** The notifications that were given up, until they are replayed or expire. */
export class DeadLetters {
  readonly #rows: Table<DeadNotification>;
  readonly #walks = new WalkedKeys();

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

  /** Returns a page of the dead letters of a tenant, for one receiver or for all. */
  async list(
    tenant: string,
    request: PageRequest & { readonly receiver: string },
    signal: AbortSignal,
  ): Promise<Page<DeadNotification>> {
    const rows = await this.#rowsFor(tenant, request, signal);
    const page = pageOf(
      rows.filter((row) => isFor(row, request.receiver)),
      request,
      ({ key }) => key,
      isAfter,
      bytesOf,
    );
    if (page.nextPageToken === "") this.#walks.end(tenant);
    return { ...page, items: page.items.map(({ record }) => record) };
  }

  /** Returns all rows of the tenant for a first page, and enough of them for another one. */
  async #rowsFor(
    tenant: string,
    request: PageRequest & { readonly receiver: string },
    signal: AbortSignal,
  ): Promise<readonly Row<DeadNotification>[]> {
    const keys = this.#walks.of(tenant);
    if (request.pageToken === "" || keys === undefined) {
      const rows = await this.#rows.list(tenant, signal);
      this.#walks.begin(
        tenant,
        rows.map(({ key }) => key),
      );
      return rows;
    }
    const previous = keyOfToken(request.pageToken) ?? "";
    const rows: Row<DeadNotification>[] = [];
    let room = maxPageBytes;
    for (const key of keys.filter((each) => isAfter(each, previous))) {
      const row = await this.#rows.get(key, signal);
      if (row === undefined || !isFor(row, request.receiver)) continue;
      rows.push(row);
      room -= bytesOf(row);
      // One more than the page has, which shows that another one follows.
      if (rows.length > pageSizeOf(request) || room < 0) break;
    }
    return rows;
  }

  /**
   * Queues a dead letter again, and removes it. If the process dies in between, a repetition queues nothing twice within the
   * window of the queue. Throws a Failure if it does not exist, or if its receiver is not in `queues`.
   */
  async replay(
    { tenant, notificationId }: Pick<Notification, "tenant" | "notificationId">,
    queues: ReceiverQueues,
    nowMs: number,
    signal: AbortSignal,
  ): Promise<void> {
    const key = keyOf({ tenant, notification: notificationId });
    const row = await this.#rows.get(key, signal);
    const { notification } = row?.record ?? {};
    if (row === undefined || notification === undefined) throw notFound(notificationId);
    const queue = queues.get(notification.receiver);
    if (queue === undefined) throw withoutReceiver(notification);
    const again = create(NotificationSchema, { ...notification, queuedAt: timestampFromMs(nowMs) });
    const dedupeId = `${notificationId}:replay:${row.revision}`;
    await queue.publish(again, { dedupeId }, signal);
    // It may be dead again already, as another version.
    await this.#rows.deleteVersion(key, row.revision, signal);
  }
}

function isFor({ record }: Row<DeadNotification>, receiver: string): boolean {
  return receiver === "" || record.notification?.receiver === receiver;
}

function isAfter(key: string, previous: string): boolean {
  return key > previous;
}

function bytesOf({ record }: Row<DeadNotification>): number {
  return toBinary(DeadNotificationSchema, record).length;
}

function notFound(notificationId: string): Failure {
  return new Failure(
    "not_found",
    ErrorReason.NOTIFICATION_NOT_FOUND,
    `no notification ${notificationId} was given up; it may have been replayed already`,
    { metadata: { notification_id: notificationId } },
  );
}

function withoutReceiver({ notificationId, receiver }: Notification): Failure {
  const problem = `notification ${notificationId} is for the receiver ${receiver}, which REEVE_NOTIFY of approvals no longer has; add it there`;
  return new Failure("precondition", ErrorReason.INVALID_REQUEST, problem);
}
