import { emptyTail } from "@reeve/jetstream/log/port";
import type { RunLog } from "@reeve/jetstream/log/run-log";
import type { Clock } from "@reeve/platform/async/clock";
import { foldRun } from "../../commands/fold-run.ts";
import { approvalOf } from "../../head/run-head.ts";
import { runOfApproval } from "../approval-id.ts";
import { assertOpen } from "../assert-open.ts";
import { assertSameCall } from "../assert-same-call.ts";
import type { StaleReadOptions } from "../stale-reads.ts";
import { missingApproval, searching } from "../stale-reads.ts";

export interface ConfirmingPorts extends StaleReadOptions {
  readonly log: Pick<RunLog, "read">;
  readonly clock: Pick<Clock, "now">;
}

/** Throws a Failure unless an approval of the tenant takes decisions, and is for this call: a challenge for another one is of no use. */
export async function assertConfirmable(
  ports: ConfirmingPorts,
  tenant: string,
  { approvalId, callDigest }: { readonly approvalId: string; readonly callDigest: string },
  signal: AbortSignal,
): Promise<void> {
  const key = { tenant, run: runOfApproval(approvalId) };
  const check = async () => {
    const { events } = await ports.log.read(key, emptyTail, signal);
    const head = await foldRun(events, signal);
    const approval = approvalOf(head, approvalId);
    if (approval === undefined) throw missingApproval(head, approvalId);
    assertOpen(approval, head, ports.clock.now());
    assertSameCall(approval, callDigest);
  };
  await searching(ports, approvalId, check, signal);
}
