import type { Approval, WatchApprovalsRequest } from "@reeve/contracts/approval";
import { ApprovalState } from "@reeve/contracts/approval";
import type { Change } from "@reeve/jetstream/table/port";
import { withHeartbeats } from "@reeve/platform/async/with-heartbeats";
import type { Decider } from "@reeve/run/approvals/votes/may-decide";
import type { ReadPorts } from "../read-approvals.ts";
import { shownNow } from "../read-approvals.ts";
import type { Matches } from "./approval-filter.ts";
import { matching } from "./approval-filter.ts";

/** The time without an approval after which a stream sends a heartbeat. */
const heartbeatMs = 5_000;

/**
 * Yields the pending approvals that are selected, then each selected approval when it is requested or changes, until `signal` aborts.
 * One that was yielded is yielded at each change until it is closed, also if it ceases to match. Yields undefined as a heartbeat. An empty `runId` selects all
 * runs of the tenant.
 */
export async function* watchApprovals(
  ports: Pick<ReadPorts, "inbox" | "clock" | "times" | "groups">,
  caller: Decider,
  { runId, filter }: Pick<WatchApprovalsRequest, "runId" | "filter">,
  signal: AbortSignal,
): AsyncIterable<Approval | undefined> {
  const { inbox, clock } = ports;
  const { tenant } = caller;
  const isMatch = filter === undefined ? () => true : matching(filter, caller);
  const matches: Matches = (each) => (runId === "" || each.runId === runId) && isMatch(each);
  // Heartbeats depend on what the client receives, so approvals that it did not select must not delay them.
  const selected = (until: AbortSignal) => selectNews(inbox.watch(tenant, until), matches);
  const interval = (until: AbortSignal) => clock.sleep(heartbeatMs, until);
  for await (const next of withHeartbeats(selected, interval, signal))
    yield next === "heartbeat" ? undefined : shownNow(ports, tenant)(next);
}

async function* selectNews(
  changes: AsyncIterable<Change<Approval>>,
  matches: Matches,
): AsyncIterable<Approval> {
  let isCurrent = false;
  // Of one that ceases to match while it is pending, such as after a vote of the caller, the client has to know the end.
  const shown = new Set<string>();
  for await (const change of changes) {
    if (change.kind === "current") isCurrent = true;
    if (change.kind === "deleted") shown.delete(change.key);
    if (change.kind !== "written") continue;
    const { key, record } = change.row;
    const isPending = record.state === ApprovalState.PENDING;
    const isMatch = (isCurrent || isPending) && matches(record);
    const wasShown = shown.delete(key);
    if (!isMatch && !wasShown) continue;
    if (isPending) shown.add(key);
    yield record;
  }
}
