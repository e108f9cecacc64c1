import { pendingCount, useApprovalCounts } from "../api/use-approval-counts.ts";
import { shownCount } from "../format/amounts.ts";

/** How many decisions wait. */
export function PendingCount() {
  const count = pendingCount(useApprovalCounts());
  if (count === undefined) return null;
  const shown = shownCount(count);
  return (
    <span className="pending" aria-label={`${shown} waiting`}>
      {shown}
    </span>
  );
}
