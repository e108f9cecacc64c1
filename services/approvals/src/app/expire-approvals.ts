import { timestampMs } from "@bufbuild/protobuf/wkt";
import { ApprovalState } from "@reeve/contracts/approval";
import { systemSubjects } from "@reeve/jetstream/audit/system-acts";
import { isTenantKeyDeleted } from "@reeve/jetstream/sealing/key-failures";
import { runOfApproval } from "@reeve/run/approvals/approval-id";
import { expireApproval } from "@reeve/run/approvals/expire-approval";
import { runTogether } from "@reeve/platform/async/run-together";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { PendingApprovals } from "./approval-metrics.ts";
import type { ApprovalPorts } from "./approval-ports.ts";
import { DueTimes } from "./due-times.ts";

/** The maximum sleep. It also bounds how late an expiry is after the machine was suspended. */
const maxSleepMs = 60_000;

/**
 * Expires approvals at their expiry time, by a fact in the log of their run, and records each in the audit trail. The times come
 * from the inbox, so that they survive restarts; an approval that has been decided stays decided. An expiry that the store refuses,
 * or whose approval the store does not find in the log of an open run, is retried until it succeeds. Rejects if the watch of the
 * inbox breaks.
 */
export async function expireApprovals(
  ports: ApprovalPorts,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const due = new DueTimes();
  // Together: without the watch, approvals would expire by times that are outdated.
  await runTogether(
    [(until) => watchDueTimes(ports, due, until), (until) => expireDue(ports, due, log, until)],
    signal,
  );
}

async function watchDueTimes(
  { inbox }: Pick<ApprovalPorts, "inbox">,
  due: DueTimes,
  signal: AbortSignal,
): Promise<void> {
  const pending = new PendingApprovals();
  for await (const change of inbox.watch("", signal)) {
    pending.apply(change);
    if (change.kind === "deleted") due.remove(change.key);
    if (change.kind !== "written") continue;
    const { key, record } = change.row;
    if (record.state !== ApprovalState.PENDING || record.expiresAt === undefined) due.remove(key);
    else due.set(key, timestampMs(record.expiresAt));
  }
}

async function expireDue(
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
      // Nobody can store anything for the tenant any more.
      if (isTenantKeyDeleted(error)) return due.settle(key);
      const retryMs = due.retry(key, clock.now());
      log.warn(
        { err: error, approval: key, retryMs },
        "expiry of an approval was not stored; retrying",
      );
    }
  };
  for (;;) {
    signal.throwIfAborted();
    for (const key of due.takeUntil(clock.now())) await expireOne(key);
    const round = new AbortController();
    const bounded = AbortSignal.any([signal, round.signal]);
    const sleepMs = Math.min((due.next() ?? Infinity) - clock.now(), maxSleepMs);
    const waits = [clock.sleep(Math.max(sleepMs, 0), bounded), due.changed(bounded)];
    await Promise.race(waits).finally(() => round.abort());
    await Promise.allSettled(waits);
  }
}

/** Nothing rests on what the inbox or the log lack, unless a gateway has confirmed that the run was deleted. */
async function expire(ports: ApprovalPorts, key: string, signal: AbortSignal): Promise<void> {
  const [tenant = "", approvalId = ""] = key.split(".");
  const run = { tenant, run: runOfApproval(approvalId) };
  const { tail } = await ports.logEnds.last(run, signal);
  if (tail.sequence === 0) return;
  const resources = [
    { kind: "approval", id: approvalId },
    { kind: "run", id: run.run },
  ];
  const act = { tenant, subject: systemSubjects.expiry, action: "approval.expire", resources };
  // Several processes may find that it has expired.
  await ports.recordAct({ ...act, actId: `expiry.${key}` }, () =>
    expireApproval(ports, run, approvalId, signal),
  );
}
