import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Notification } from "@reeve/contracts/notification";
import type { Delivery, WorkQueue } from "@reeve/jetstream/queue/port";
import { extendIntervalMs } from "@reeve/jetstream/queue/port";
import { abortLater } from "@reeve/platform/async/abort-later";
import type { Clock } from "@reeve/platform/async/clock";
import { every } from "@reeve/platform/async/every";
import { TaskSet } from "@reeve/platform/async/task-set";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { DeadLetters } from "./dead-letters.ts";
import type { DeliveryLimits } from "./delivery-plan.ts";
import { backoffAfter, delayBeforeRetry } from "./delivery-plan.ts";
import { countAttempt } from "./notification-metrics.ts";
import { Refusals } from "./refusals.ts";
import type { FailedAttempt, Sender } from "./send/sender.ts";

/** How many notifications one process delivers to one receiver at a time. */
const maxConcurrent = 4;

export interface DeliveryPorts {
  readonly queue: Pick<WorkQueue<Notification>, "take">;
  readonly sender: Sender;
  readonly deadLetters: Pick<DeadLetters, "add">;
  /** Milliseconds since the epoch. */
  readonly clock: Pick<Clock, "now">;
  readonly limits: DeliveryLimits;
  readonly ackWaitMs: number;
  /** How long an attempt may continue while the process stops, so that it is not repeated for nothing. */
  readonly graceMs: number;
}

/**
 * Delivers the notifications of one receiver, each at least once: a process that dies between the receiver's answer and the
 * acknowledgement leaves a notification that another one sends again, with the same id. Failed attempts are repeated with growing
 * delays; what is given up becomes a dead letter. Rejects with the signal's reason, after the attempts in progress.
 */
export async function deliverNotifications(
  ports: DeliveryPorts,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const attempts = new TaskSet();
  const refusals = new Refusals();
  const sending = abortLater(ports.graceMs, signal);
  try {
    for await (const delivery of ports.queue.take(maxConcurrent, signal)) {
      void attempts.add(settle(ports, delivery, { log, refusals }, sending));
    }
  } finally {
    await attempts.settled();
  }
}

async function settle(
  ports: DeliveryPorts,
  delivery: Delivery<Notification>,
  { log, refusals }: { readonly log: Logger; readonly refusals: Refusals },
  signal: AbortSignal,
): Promise<void> {
  const { message: notification, attempt } = delivery;
  const { notificationId, receiver } = notification;
  using _ = every(extendIntervalMs(ports.ackWaitMs), () => delivery.extend());
  try {
    const outcome = await ports.sender.send(notification, signal);
    countAttempt(receiver, outcome.kind);
    const refused = refusals.count(notification, outcome.kind);
    if (outcome.kind === "delivered") return delivery.acknowledge();
    const ageMs = ageOf(notification, ports.clock.now());
    const history = { attempt, ageMs, refusals: refused };
    const delayMs = delayBeforeRetry(outcome, history, ports.limits);
    if (delayMs === undefined) return await giveUp(ports, delivery, outcome, log, signal);
    const { problem } = outcome;
    log.warn(
      { receiver, notificationId, attempt, problem, delayMs: Math.round(delayMs) },
      "notification was not delivered; retrying",
    );
    delivery.returnToQueue(delayMs);
  } catch (error) {
    if (!signal.aborted) {
      log.warn({ err: error, receiver, notificationId }, "notification was not settled; retrying");
    }
    // Another process takes it at once when this one stops.
    delivery.returnToQueue(signal.aborted ? 0 : backoffAfter(attempt, ports.limits));
  }
}

async function giveUp(
  { deadLetters, clock }: DeliveryPorts,
  delivery: Delivery<Notification>,
  { problem }: FailedAttempt,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const { message: notification, attempt } = delivery;
  const { receiver, notificationId } = notification;
  await deadLetters.add({ notification, problem, attempts: attempt, nowMs: clock.now() }, signal);
  delivery.acknowledge();
  countAttempt(receiver, "dead");
  log.error(
    { receiver, notificationId, attempt, problem },
    "notification was given up; replay it with `reeve notifications replay`",
  );
}

function ageOf({ queuedAt }: Notification, nowMs: number): number {
  return queuedAt === undefined ? 0 : nowMs - timestampMs(queuedAt);
}
