import type { MessageInitShape } from "@bufbuild/protobuf";
import { useInfiniteQuery } from "@connectrpc/connect-query";
import type { Approval, ApprovalFilterSchema } from "@reeve/contracts/approval";
import { ApprovalService } from "@reeve/contracts/approval";

interface PendingApprovals {
  readonly approvals: readonly Approval[];
  readonly isPending: boolean;
  readonly error: Error | null;
  /** Whether the approvals are those of the filter before. */
  readonly isOutdated: boolean;
  /** Whether there may be more than those that were read. */
  readonly hasMore: boolean;
  readonly isReadingMore: boolean;
  readonly readMore: () => void;
  readonly refetch: () => void;
}

/** More pages are read again less often: each one is a request. */
const livePages = 3;

/**
 * The decisions that wait and match, oldest first. A page has at most 1,000, and with a filter what a limited search found. Read
 * again every two seconds: a stream would use a connection of the six.
 */
export function usePendingApprovals(
  filter: MessageInitShape<typeof ApprovalFilterSchema>,
): PendingApprovals {
  const query = useInfiniteQuery(
    ApprovalService.method.listApprovals,
    { pageSize: 1_000, pageToken: "", filter },
    {
      pageParamKey: "pageToken",
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
      refetchInterval: ({ state }) =>
        (state.data?.pages.length ?? 0) > livePages ? 15_000 : 2_000,
      placeholderData: (previous) => previous,
    },
  );
  return {
    approvals: query.data?.pages.flatMap((page) => page.approvals) ?? [],
    isPending: query.isPending,
    error: query.error,
    isOutdated: query.isPlaceholderData,
    hasMore: query.hasNextPage,
    isReadingMore: query.isFetchingNextPage,
    readMore: () => void query.fetchNextPage(),
    refetch: () => void query.refetch(),
  };
}
