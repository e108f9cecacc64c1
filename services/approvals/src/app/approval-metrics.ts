import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalState, ApprovalStateSchema } from "@reeve/contracts/approval";
import type { RunEvent } from "@reeve/contracts/run";
import { gauge, histogram } from "@reeve/platform/telemetry/metrics";
import type { Change } from "@reeve/jetstream/table/port";

const pending = gauge({
  name: "reeve_approvals_pending",
  help: "Approvals that nobody has decided, over all runs; each instance of the service tells all of them.",
});
const waits = histogram({
  name: "reeve_approval_wait_seconds",
  help: "Time from the request of an approval to its end, by how it ended.",
  labels: ["outcome"],
  buckets: [1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400, 604_800],
});

/** Counts the approvals that are pending, by the changes of the inbox. */
export class PendingApprovals {
  readonly #keys = new Set<string>();

  take(change: Change<Approval>): void {
    if (change.kind === "deleted") this.#keys.delete(change.key);
    else if (change.kind === "written") {
      const { key, record } = change.row;
      if (record.state === ApprovalState.PENDING) this.#keys.add(key);
      else this.#keys.delete(key);
    }
    pending.set(this.#keys.size);
  }
}

/** Measures how long the approvals waited that appended events resolve. */
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
