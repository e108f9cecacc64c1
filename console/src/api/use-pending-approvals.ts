import { useQuery } from "@connectrpc/connect-query";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalService } from "@reeve/contracts/approval";

interface PendingApprovals {
  readonly approvals: readonly Approval[];
  readonly isPending: boolean;
  readonly error: Error | null;
  readonly refetch: () => void;
}

/** The decisions that wait, oldest first, at most 1,000. Read again every two seconds: a stream would use a connection of the six. */
export function usePendingApprovals(): PendingApprovals {
  const { data, isPending, error, refetch } = useQuery(
    ApprovalService.method.listApprovals,
    { pageSize: 1_000 },
    { refetchInterval: 2_000 },
  );
  return { approvals: data?.approvals ?? [], isPending, error, refetch: () => void refetch() };
}
