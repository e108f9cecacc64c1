import { create } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalSchema, ApprovalState } from "@reeve/contracts/approval";
import { commitForeign } from "@reeve/log/commit-foreign";
import { isTerminal } from "@reeve/log/run-head";
import type { Logger } from "@reeve/platform/logger";
import type { ApprovalPorts } from "./approval-ports.ts";
import { DueTimes } from "./due-times.ts";

export interface ExpiryClock {
  now(): number;
  sleep(delayMs: number, signal: AbortSignal): Promise<void>;
}

/** How often the time is compared when nothing is due sooner; also what a timer may at most be late after a suspend. */
const longestSleepMs = 60_000;
/** How long a decision on expiry rests after the store did not take it. */
const retryMs = 1_000;

/**
 * Lets approvals expire at their time, by a fact in the log of their run. The times come out of the inbox, so that they
 * survive every restart; an approval that was decided meanwhile stays decided.
 */
export async function expireApprovals(
  ports: ApprovalPorts,
  clock: ExpiryClock,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const due = new DueTimes();
  const watching = (async () => {
    for await (const change of ports.inbox.watch("", signal)) {
      if (change.kind === "deleted") due.remove(change.key);
      if (change.kind !== "written") continue;
      const { key, record } = change.row;
      if (record.state !== ApprovalState.PENDING || record.expiresAt === undefined) due.remove(key);
      else due.set(key, timestampMs(record.expiresAt));
    }
  })();
  const firing = (async () => {
    for (;;) {
      const now = clock.now();
      for (const key of due.takeUntil(now)) {
        await expire(ports, key, signal).catch((error: unknown) => {
          if (signal.aborted) return;
          log.warn({ err: error, approval: key }, "approval could not expire; trying again");
          due.set(key, now + retryMs);
        });
      }
      const sleepMs = Math.min((due.next() ?? now + longestSleepMs) - now, longestSleepMs);
      await Promise.race([clock.sleep(Math.max(sleepMs, 0), signal), due.changed(signal)]);
    }
  })();
  await Promise.all([watching, firing]);
}

async function expire(ports: ApprovalPorts, key: string, signal: AbortSignal): Promise<void> {
  const [tenant = "", approvalId = ""] = key.split(".");
  const row = await ports.inbox.get(key, signal);
  if (row === undefined) return;
  await commitForeign(
    ports,
    { tenant, run: row.record.runId },
    (head) => {
      const approval: Approval | undefined = head.approvals.get(approvalId);
      const isOpen = approval?.state === ApprovalState.PENDING && !isTerminal(head.status);
      if (!isOpen) return [];
      const expired = create(ApprovalSchema, { ...approval, state: ApprovalState.TIMED_OUT });
      return [{ case: "approval", value: { approval: expired } }];
    },
    signal,
  );
}
