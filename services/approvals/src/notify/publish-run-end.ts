import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type { EndedRun } from "@reeve/contracts/notification";
import {
  EndedRunSchema,
  NotificationEvent,
  NotificationSchema,
} from "@reeve/contracts/notification";
import type { RunFeedBatch } from "@reeve/jetstream/feed/run-feed";
import { emptyTail } from "@reeve/jetstream/log/port";
import { foldRun } from "@reeve/run/commands/fold-run";
import { runOf } from "@reeve/run/head/run-of";
import { isTerminal } from "@reeve/run/head/run-status";
import type { RunLog } from "@reeve/jetstream/log/run-log";
import type { Clock } from "@reeve/platform/async/clock";
import type { ReceiverQueue } from "./receiver-queue.ts";

interface RunEndPorts {
  readonly log: Pick<RunLog, "read">;
  readonly receivers: readonly ReceiverQueue[];
  /** Milliseconds since the epoch. */
  readonly clock: Pick<Clock, "now">;
  /** How old the end may be. */
  readonly maxAgeMs: number;
}

/** Publishes a notification to each receiver that wants to hear of the end of a run, if a batch has it. */
export async function publishRunEnd(
  { log, receivers, clock, maxAgeMs }: RunEndPorts,
  { key, events }: Pick<RunFeedBatch, "key" | "events">,
  signal: AbortSignal,
): Promise<void> {
  const end = events.find(({ event }) => event.case === "status" && isTerminal(event.value.status));
  if (end === undefined) return;
  const nowMs = clock.now();
  const isRecent = end.time === undefined || nowMs - timestampMs(end.time) <= maxAgeMs;
  const wanting = receivers.filter(
    ({ receiver: { events: wanted, tenants } }) =>
      wanted.includes("run_ended") && (tenants?.includes(key.tenant) ?? true),
  );
  if (!isRecent || wanting.length === 0) return;
  const stored = await log.read(key, emptyTail, signal);
  // It was deleted meanwhile.
  if (stored.events.length === 0) return;
  const run = endedRunOf(runOf(await foldRun(stored.events, signal)));
  for (const { receiver, queue } of wanting) {
    if (receiver.agents?.includes(run.agentId) === false) continue;
    const notification = create(NotificationSchema, {
      notificationId: idOf(run.runId, receiver.name),
      receiver: receiver.name,
      tenant: key.tenant,
      event: NotificationEvent.RUN_ENDED,
      ...(end.time && { occurredAt: end.time }),
      queuedAt: timestampFromMs(nowMs),
      run,
    });
    await queue.publish(notification, { dedupeId: notification.notificationId }, signal);
  }
}

/** Returns what every receiver may know of a run: nothing that a model or a person wrote to it. */
function endedRunOf({
  runId,
  agentId,
  threadId,
  startedBy,
  status,
  labels,
  error,
}: ReturnType<typeof runOf>): EndedRun {
  const errorReason = error?.reason ?? "";
  const fields = { runId, agentId, threadId, startedBy, status, labels, errorReason };
  return create(EndedRunSchema, fields);
}

/** A run ends once. The id has no dot, which separates the parts of what is signed. */
function idOf(runId: string, receiver: string): string {
  const hash = createHash("sha256").update(`${runId}\0run_ended\0${receiver}`);
  return `msg_${hash.digest("hex").slice(0, 32)}`;
}
