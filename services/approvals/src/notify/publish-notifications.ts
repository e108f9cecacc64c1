import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { RunFeed, RunFeedBatch } from "@reeve/jetstream/feed/run-feed";
import type { RunLog } from "@reeve/jetstream/log/run-log";
import type { Clock } from "@reeve/platform/async/clock";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { decisionTime, withTimes } from "@reeve/run/approvals/times/decidable";
import { approvalKinds } from "../app/approval-kinds.ts";
import type { ApprovalPorts } from "../app/approval-ports.ts";
import type { ApprovalFact } from "./approval-facts.ts";
import { approvalFactsOf } from "./approval-facts.ts";
import { notificationFor } from "./notification-for.ts";
import { publishRunEnd } from "./publish-run-end.ts";
import type { ReceiverQueue } from "./receiver-queue.ts";

export interface PublishPorts {
  readonly log: Pick<RunLog, "read">;
  readonly receivers: readonly ReceiverQueue[];
  /** Milliseconds since the epoch. */
  readonly clock: Pick<Clock, "now">;
  /** The operator's policy of now about when calls can be approved. */
  readonly times: ApprovalPorts["times"];
  /** Older facts are not published: after a time without notifications, people want to hear of what is new. */
  readonly maxAgeMs: number;
}

/**
 * Publishes a notification to each receiver that wants it whenever an approval is requested or resolved. All processes share the
 * feed. A batch that is delivered again publishes the same ids, which the queue drops within its window, and which receivers
 * recognize after it.
 */
export async function publishNotifications(
  feed: RunFeed,
  ports: PublishPorts,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  for await (const batch of feed.consume("approvals-notify", approvalKinds, signal)) {
    try {
      const skipped = await publish(ports, batch, signal);
      batch.acknowledge();
      if (skipped > 0) {
        log.warn(
          { runId: batch.key.run, skipped },
          "approvals are older than max_age_hours, and nobody is notified of them",
        );
      }
    } catch (error) {
      if (signal.aborted) return;
      // Not acknowledged: the feed redelivers the batch.
      log.warn({ err: error, runId: batch.key.run }, "notifications were not queued; retrying");
    }
  }
}

/** Returns how many facts were too old. */
async function publish(
  { log, receivers, clock, times, maxAgeMs }: PublishPorts,
  batch: RunFeedBatch,
  signal: AbortSignal,
): Promise<number> {
  const now = clock.now();
  const facts = await approvalFactsOf(log, batch, signal);
  const isRecent = ({ occurredAt }: ApprovalFact) =>
    occurredAt === undefined || now - timestampMs(occurredAt) <= maxAgeMs;
  const recent = facts.filter(isRecent);
  const time = decisionTime({ tenant: batch.key.tenant, times: times() }, now);
  for (const each of recent) {
    const fact = { ...each, approval: withTimes(each.approval, time) };
    for (const { receiver, queue } of receivers) {
      const notification = notificationFor(fact, receiver, now);
      if (notification === undefined) continue;
      await queue.publish(notification, { dedupeId: notification.notificationId }, signal);
    }
  }
  await publishRunEnd({ log, receivers, clock, maxAgeMs }, batch, signal);
  return facts.length - recent.length;
}
