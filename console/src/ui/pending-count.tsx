import { pendingCount, useApprovalCounts } from "../api/use-approval-counts.ts";
import { shownCount } from "../format/amounts.ts";

/** How many decisions wait for this person. */
export function PendingCount() {
  const counts = useApprovalCounts();
  // Not counted for credentials with very many groups.
  const count = counts === undefined ? undefined : (counts.waitingForMe ?? pendingCount(counts));
  if (count === undefined || count.count === 0) return null;
  const shown = shownCount(count);
  return (
    <span className="pending" aria-label={`${shown} waiting for you`}>
      {shown}
    </span>
  );
}
