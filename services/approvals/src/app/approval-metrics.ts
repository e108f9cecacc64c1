import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalState, ApprovalStateSchema } from "@reeve/contracts/approval";
import type { RunEvent } from "@reeve/contracts/run";
import { counter, gauge, histogram } from "@reeve/platform/telemetry/metrics";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { Change } from "@reeve/jetstream/table/port";

const pending = gauge({
  name: "reeve_approvals_pending",
  help: "Pending approvals of all runs. Every instance of the service reports the total.",
});
const waits = histogram({
  name: "reeve_approval_wait_seconds",
  help: "Time from the request of an approval to its end, by outcome.",
  labels: ["outcome"],
  buckets: [1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400, 604_800],
});

const broken = counter({
  name: "reeve_approval_break_glass_total",
  help: "Approvals that a person decided alone and at once, in an emergency.",
});

/** Reports the number of pending approvals as a gauge, from the changes of the inbox. */
export class PendingApprovals {
  readonly #keys = new Set<string>();

  apply(change: Change<Approval>): void {
    if (change.kind === "deleted") this.#keys.delete(change.key);
    else if (change.kind === "written") {
      const { key, record } = change.row;
      if (record.state === ApprovalState.PENDING) this.#keys.add(key);
      else this.#keys.delete(key);
    }
    pending.set(this.#keys.size);
  }
}

/** Counts and logs each approval that these appended events decide by break-glass. */
export function reportBreakGlass(log: Logger): (events: readonly RunEvent[]) => void {
  return (events) => {
    for (const { event, runId } of events) {
      const approval = event.case === "approval" ? event.value.approval : undefined;
      const { breakGlass, decidedBy } = approval?.decision ?? {};
      if (approval?.state !== ApprovalState.APPROVED || breakGlass === undefined) continue;
      broken.inc();
      const { approvalId } = approval;
      const { rule, freeze, withoutVotes } = breakGlass;
      log.warn(
        { runId, approvalId, decidedBy, rule, freeze, withoutVotes },
        "approval was decided by break-glass",
      );
    }
  };
}

/** Records the wait of each approval that these appended events resolve. */
export function measureWaits(events: readonly RunEvent[]): void {
  for (const { event, time } of events) {
    const approval = event.case === "approval" ? event.value.approval : undefined;
    if (approval?.requestedAt === undefined || time === undefined) continue;
    if (approval.state === ApprovalState.PENDING) continue;
    const outcome = ApprovalStateSchema.value[approval.state]?.localName.toLowerCase() ?? "other";
    const waitedMs = timestampMs(time) - timestampMs(approval.requestedAt);
    waits.observe({ outcome }, Math.max(waitedMs, 0) / 1_000);
  }
}
