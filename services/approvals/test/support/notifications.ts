import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalSchema, ApprovalState } from "@reeve/contracts/approval";
import type { Notification } from "@reeve/contracts/notification";
import { NotificationEvent, NotificationSchema } from "@reeve/contracts/notification";
import type { NotifySettings, Receiver } from "../../src/notify/settings/receiver-schema.ts";
import { notifySettings } from "../../src/notify/settings/receiver-schema.ts";

export const noon = Date.parse("2026-01-01T12:00:00Z");

/** Returns the settings of a file with one webhook, changed by `fields`; undefined removes a field. */
export function settingsOf(fields: Readonly<Record<string, unknown>> = {}): NotifySettings {
  const receiver = {
    name: "on-call",
    format: "standard",
    url: "https://hooks.example.com/reeve",
    secret: { environment: "SECRET" },
    ...fields,
  };
  const given = Object.entries(receiver).filter(([, value]) => value !== undefined);
  return notifySettings.parse({ receivers: [Object.fromEntries(given)] });
}

/** Returns a webhook, changed by `fields`. */
export function receiverOf(fields: Readonly<Record<string, unknown>> = {}): Receiver {
  const [receiver] = settingsOf(fields).receivers;
  if (receiver === undefined) throw new Error("the settings have no receiver");
  return receiver;
}

/** Returns a notification of a request at noon, with changes of its approval. */
export function notificationOf(changes: Partial<Approval> = {}): Notification {
  const approval = create(ApprovalSchema, {
    approvalId: "run_abcdefgh-3-0",
    runId: "run_abcdefgh",
    agentId: "release",
    requestedBy: "ada",
    state: ApprovalState.PENDING,
    call: { callId: "call_1", name: "deploy" },
  });
  return create(NotificationSchema, {
    notificationId: "msg_1",
    receiver: "on-call",
    tenant: "acme",
    event: NotificationEvent.REQUESTED,
    occurredAt: timestampFromMs(noon),
    queuedAt: timestampFromMs(noon),
    approval: Object.assign(approval, changes),
  });
}
