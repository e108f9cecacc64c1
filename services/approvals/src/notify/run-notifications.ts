import { openRunFeed } from "@reeve/jetstream/feed/nats";
import type { Notices } from "@reeve/jetstream/notices/nats";
import type { RunLog } from "@reeve/jetstream/log/run-log";
import { systemClock } from "@reeve/platform/async/clock";
import { runTogether } from "@reeve/platform/async/run-together";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { ApprovalPorts } from "../app/approval-ports.ts";
import { deliverNotifications } from "./deliver-notifications.ts";
import type { NotificationStores } from "./notification-stores.ts";
import { publishNotifications } from "./publish-notifications.ts";
import { natsSender } from "./send/nats-sender.ts";
import { httpSender } from "./send/http-sender.ts";
import type { SenderOptions } from "./send/http-sender.ts";
import type { Sender } from "./send/sender.ts";
import { smtpSender } from "./send/smtp-sender.ts";
import type { NotifySettings, Receiver } from "./settings/receiver-schema.ts";
import type { ReadSecret } from "./settings/secret-text.ts";

/** How many times in a row a receiver may refuse a notification. */
const maxRefusals = 5;
/** A process that stops ends its requests in this time. */
const graceMs = 2_000;

export interface NotificationsOptions {
  readonly settings: NotifySettings;
  readonly readSecret: ReadSecret;
  readonly publicUrl: string;
  readonly ackWaitMs: number;
}

interface NotificationsDependencies {
  readonly nats: Nats;
  readonly stores: NotificationStores;
  readonly runLog: Pick<RunLog, "read">;
  readonly log: Logger;
  /** The operator's policy of now about when calls can be approved. */
  readonly times: ApprovalPorts["times"];
}

/** Publishes and delivers notifications until the signal aborts, by throwing its reason. */
export async function runNotifications(
  { settings, readSecret, publicUrl, ackWaitMs }: NotificationsOptions,
  { nats, stores, runLog, log, times }: NotificationsDependencies,
  signal: AbortSignal,
): Promise<void> {
  const { retry, timeout_seconds: timeoutSeconds, max_age_hours: maxAgeHours } = settings;
  const giveUpMs = retry.give_up_hours * 3_600_000;
  const limits = {
    firstDelayMs: retry.first_seconds * 1_000,
    maxDelayMs: retry.max_seconds * 1_000,
    giveUpMs,
    maxRefusals,
  };
  const clock = systemClock;
  const options: SenderOptions = {
    publicUrl,
    timeoutMs: timeoutSeconds * 1_000,
    readSecret,
    clock,
  };
  const { deadLetters, queues, notices } = stores;
  const receivers = settings.receivers.flatMap((receiver) => {
    const queue = queues.get(receiver.name);
    return queue === undefined ? [] : [{ receiver, queue }];
  });
  const deliveries = receivers.map(({ receiver, queue }) => {
    const sender = senderOf(receiver, { ...options, notices }, log);
    const ports = { queue, sender, deadLetters, clock, limits, ackWaitMs, graceMs };
    return (until: AbortSignal) => deliverNotifications(ports, log, until);
  });
  // Who turns notifications on wants none about the past.
  const feed = await openRunFeed(nats, { start: "end" });
  const publishing = { log: runLog, receivers, clock, times, maxAgeMs: maxAgeHours * 3_600_000 };
  const publish = (until: AbortSignal) => publishNotifications(feed, publishing, log, until);
  log.info({ receivers: receivers.length }, "notifications start");
  await runTogether([publish, ...deliveries], signal);
}

interface Sending extends SenderOptions {
  readonly notices: Notices | undefined;
}

function senderOf(receiver: Receiver, { notices, ...options }: Sending, log: Logger): Sender {
  if (receiver.format === "email") return smtpSender(receiver, options, log);
  if (receiver.format !== "nats") return httpSender(receiver, options);
  if (notices === undefined) throw new Error("the stream of notices is not open");
  return natsSender(receiver, options, notices);
}
