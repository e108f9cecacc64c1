import { useQuery } from "@connectrpc/connect-query";
import type { CountApprovalsResponse } from "@reeve/contracts/approval";
import { ApprovalService, ApprovalState } from "@reeve/contracts/approval";
import type { ApprovalCount } from "@reeve/contracts/approval";

/** How many approvals there are. Read again every five seconds. */
export function useApprovalCounts(): CountApprovalsResponse | undefined {
  return useQuery(ApprovalService.method.countApprovals, {}, { refetchInterval: 5_000 }).data;
}

/** Returns how many approvals wait. Undefined: none does. */
export function pendingCount(
  counts: CountApprovalsResponse | undefined,
): ApprovalCount | undefined {
  return counts?.states.find(({ state }) => state === ApprovalState.PENDING)?.count;
}
