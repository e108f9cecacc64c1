import { create } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { ApprovalSchema, ApprovalState } from "@reeve/contracts/approval";
import { appendExternal } from "@reeve/run/commands/append-external";
import { isTerminal } from "@reeve/run/head/run-status";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { PendingApprovals } from "./approval-metrics.ts";
import type { ApprovalPorts } from "./approval-ports.ts";
import { DueTimes } from "./due-times.ts";
import { approvalOf } from "@reeve/run/head/run-head";

/** How often the time is compared when nothing is due sooner; also what a timer may at most be late after a suspend. */
const longestSleepMs = 60_000;

/**
 * Lets approvals expire at their time, by a fact in the log of their run. The times come out of the inbox, so that they
 * survive every restart; an approval that was decided meanwhile stays decided. An expiry that the store does not take is
 * tried again until it is taken. Rejects when the inbox cannot be watched any more.
 */
export async function expireApprovals(
  ports: ApprovalPorts,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const due = new DueTimes();
  const end = new AbortController();
  const until = AbortSignal.any([signal, end.signal]);
  const parts = [watchDueTimes(ports, due, until), expireInTime(ports, due, log, until)];
  try {
    await Promise.all(parts);
  } finally {
    // One without the other would expire what it no longer hears of.
    end.abort(new DOMException("the other half has ended", "AbortError"));
    await Promise.allSettled(parts);
  }
}

async function watchDueTimes(
  { inbox }: Pick<ApprovalPorts, "inbox">,
  due: DueTimes,
  signal: AbortSignal,
): Promise<void> {
  const pending = new PendingApprovals();
  for await (const change of inbox.watch("", signal)) {
    pending.take(change);
    if (change.kind === "deleted") due.remove(change.key);
    if (change.kind !== "written") continue;
    const { key, record } = change.row;
    if (record.state !== ApprovalState.PENDING || record.expiresAt === undefined) due.remove(key);
    else due.set(key, timestampMs(record.expiresAt));
  }
}

async function expireInTime(
  ports: ApprovalPorts,
  due: DueTimes,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const { clock } = ports;
  const expireOne = async (key: string) => {
    try {
      await expire(ports, key, signal);
      due.settle(key);
    } catch (error) {
      if (signal.aborted) return;
      const retryMs = due.retry(key, clock.now());
      log.warn({ err: error, approval: key, retryMs }, "approval could not expire; trying again");
    }
  };
  for (;;) {
    signal.throwIfAborted();
    for (const key of due.takeUntil(clock.now())) await expireOne(key);
    const turn = new AbortController();
    const bounded = AbortSignal.any([signal, turn.signal]);
    const sleepMs = Math.min((due.next() ?? Infinity) - clock.now(), longestSleepMs);
    const waits = [clock.sleep(Math.max(sleepMs, 0), bounded), due.changed(bounded)];
    await Promise.race(waits).finally(() => turn.abort());
    await Promise.allSettled(waits);
  }
}

async function expire(ports: ApprovalPorts, key: string, signal: AbortSignal): Promise<void> {
  const [tenant = "", approvalId = ""] = key.split(".");
  const row = await ports.inbox.get(key, signal);
  if (row === undefined) return;
  await appendExternal(
    ports,
    { tenant, run: row.record.runId },
    (head) => {
      const approval = approvalOf(head, approvalId);
      const isOpen = approval?.state === ApprovalState.PENDING && !isTerminal(head.status);
      if (!isOpen) return [];
      const expired = create(ApprovalSchema, { ...approval, state: ApprovalState.TIMED_OUT });
      return [{ case: "approval", value: { approval: expired } }];
    },
    signal,
  );
}
