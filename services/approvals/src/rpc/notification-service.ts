import type { ServiceImpl } from "@connectrpc/connect";
import { ErrorReason } from "@reeve/contracts/error";
import type { NotificationService } from "@reeve/contracts/notification";
import { abortable } from "@reeve/platform/async/abortable";
import type { Clock } from "@reeve/platform/async/clock";
import { Failure } from "@reeve/platform/failure";
import { principalOf } from "@reeve/platform/rpc/principal";
import type { NotificationStores } from "../notify/notification-stores.ts";

export interface NotificationServiceOptions {
  /** Opens the stores of notifications. Undefined: the settings have no receivers. */
  readonly open: (() => Promise<NotificationStores>) | undefined;
  readonly clock: Pick<Clock, "now">;
}

/** Returns the handlers of NotificationService. */
export function notificationService({
  open,
  clock,
}: NotificationServiceOptions): ServiceImpl<typeof NotificationService> {
  const stores = async (signal: AbortSignal) => {
    if (open === undefined) throw notConfigured();
    return await abortable(open(), signal);
  };
  return {
    listDeadNotifications: async (request, context) => {
      const { tenant } = principalOf(context);
      const { deadLetters } = await stores(context.signal);
      const page = await deadLetters.list(tenant, request, context.signal);
      return { notifications: [...page.items], nextPageToken: page.nextPageToken };
    },
    replayNotification: async ({ notificationId }, context) => {
      const { tenant } = principalOf(context);
      const { deadLetters, queues } = await stores(context.signal);
      const which = { tenant, notificationId };
      await deadLetters.replay(which, queues, clock.now(), context.signal);
      return {};
    },
  };
}

function notConfigured(): Failure {
  const message =
    "this deployment sends no notifications; set REEVE_NOTIFY of approvals to the file with their receivers";
  return new Failure("precondition", ErrorReason.INVALID_REQUEST, message);
}
