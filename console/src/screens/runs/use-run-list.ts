import type { MessageInitShape } from "@bufbuild/protobuf";
import { useInfiniteQuery } from "@connectrpc/connect-query";
import type { Run, RunFilterSchema } from "@reeve/contracts/run";
import { RunOrder, RunService } from "@reeve/contracts/run";
import { useCallback } from "react";

const pageSize = 100;
/** More pages are read again less often, and many not at all: each one is a request. */
const livePages = 3;
const maxLivePages = 10;

interface RunList {
  readonly runs: readonly Run[];
  readonly isPending: boolean;
  readonly error: Error | null;
  readonly hasMore: boolean;
  /** Whether there are older runs that were not compared by cost. */
  readonly isPartial: boolean;
  readonly isReadingMore: boolean;
  /** Whether the list is read again by itself. */
  readonly isLive: boolean;
  readonly readMore: () => void;
  readonly refetch: () => void;
}

/**
 * The runs that match, newest first or by cost. Read again every two seconds while the list is short; a list by cost less often, because
 * many runs are compared for it.
 */
export function useRunList(
  filter: MessageInitShape<typeof RunFilterSchema>,
  { isByCost }: { readonly isByCost: boolean },
): RunList {
  const query = useInfiniteQuery(
    RunService.method.listRuns,
    { pageSize, pageToken: "", filter, order: isByCost ? RunOrder.COST : RunOrder.NEWEST },
    {
      pageParamKey: "pageToken",
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
      refetchInterval: ({ state }) =>
        isByCost ? 15_000 : intervalOf(state.data?.pages.length ?? 0),
      placeholderData: (previous) => previous,
    },
  );
  const { fetchNextPage, hasNextPage, isFetchingNextPage, isFetching, refetch } = query;
  const readMore = useCallback(() => {
    if (hasNextPage && !isFetching) void fetchNextPage();
  }, [hasNextPage, isFetching, fetchNextPage]);
  const pages = query.data?.pages ?? [];
  return {
    runs: pages.flatMap((page) => page.runs),
    isPending: query.isPending,
    error: query.error,
    hasMore: hasNextPage,
    isPartial: pages.some((page) => page.isPartial),
    isReadingMore: isFetchingNextPage,
    isLive: intervalOf(pages.length) !== false,
    readMore,
    refetch: () => void refetch(),
  };
}

function intervalOf(pages: number): number | false {
  if (pages <= livePages) return 2_000;
  return pages <= maxLivePages ? 15_000 : false;
}
