import type { Client, HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { NotificationService } from "@reeve/contracts/notification";
import { principalHeaders } from "@reeve/platform/rpc/internal-principal";
import { principalOf } from "@reeve/platform/rpc/principal";
import { forwarded } from "./forwarded.ts";

/** Returns the handlers of NotificationService: they forward each call to approvals, with the authenticated principal. */
export function notificationService(
  approvals: Client<typeof NotificationService>,
  internalToken: string | undefined,
): ServiceImpl<typeof NotificationService> {
  const as = (context: HandlerContext) => ({
    headers: principalHeaders(principalOf(context), internalToken),
    signal: context.signal,
  });
  return {
    listDeadNotifications: (request, context) =>
      forwarded(approvals.listDeadNotifications(request, as(context))),
    replayNotification: (request, context) =>
      forwarded(approvals.replayNotification(request, as(context))),
  };
}
