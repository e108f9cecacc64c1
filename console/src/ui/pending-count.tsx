import { usePendingApprovals } from "../api/use-pending-approvals.ts";

/** How many decisions wait. */
export function PendingCount() {
  const { approvals } = usePendingApprovals();
  if (approvals.length === 0) return null;
  return (
    <span className="pending" aria-label={`${approvals.length} waiting`}>
      {approvals.length}
    </span>
  );
}
