import { useInfiniteQuery } from "@connectrpc/connect-query";
import { getRouteApi } from "@tanstack/react-router";
import type { RunStatus } from "@reeve/contracts/run";
import { RunService } from "@reeve/contracts/run";
import { problemOf } from "../../api/problem.ts";
import type { RunsSearch } from "./runs-search.ts";
import { listedStatuses, nameOfStatus } from "../../format/names.ts";
import { Empty } from "../../ui/empty.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { ProblemView } from "../../ui/problem-view.tsx";
import { RunFilters } from "./run-filters.tsx";
import { RunTable } from "./run-table.tsx";

const route = getRouteApi("/runs");
const pageSize = 50;
/** More pages are read again less often: each one is a request. */
const livePages = 3;

/** All runs of the tenant, newest first, kept current. */
export function RunsScreen() {
  const search = route.useSearch();
  const query = useInfiniteQuery(
    RunService.method.listRuns,
    {
      pageSize,
      pageToken: "",
      agentId: search.agent ?? "",
      threadId: search.thread ?? "",
      statuses: statusesOf(search.status),
    },
    {
      pageParamKey: "pageToken",
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
      refetchInterval: ({ state }) =>
        (state.data?.pages.length ?? 0) > livePages ? 15_000 : 2_000,
      placeholderData: (previous) => previous,
    },
  );
  const runs = query.data?.pages.flatMap((page) => page.runs) ?? [];
  const isFiltered = Object.keys(search).length > 0;
  return (
    <>
      <PageHead title="Runs" />
      <RunFilters search={search} />
      {query.error !== null && (
        <ProblemView problem={problemOf(query.error)} onRetry={() => void query.refetch()} />
      )}
      {query.isPending ? (
        <p className="loading" role="status">
          Loading runs …
        </p>
      ) : runs.length === 0 && query.error === null ? (
        <NoRuns isFiltered={isFiltered} />
      ) : (
        <RunTable runs={runs} />
      )}
      {query.hasNextPage && (
        <button
          type="button"
          className="button wide"
          disabled={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          {query.isFetchingNextPage ? "Loading …" : "Show older runs"}
        </button>
      )}
    </>
  );
}

function NoRuns({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) {
    return <Empty title="No run matches the filters">Remove a filter to see more runs.</Empty>;
  }
  return (
    <Empty title="No run yet">
      <p>Start one from a terminal:</p>
      <pre className="code">
        {`reeve agents apply -f examples/csv-report/agent.yaml
reeve run csv-report "Summarize data.csv" --file examples/csv-report/sales.csv=data.csv`}
      </pre>
    </Empty>
  );
}

function statusesOf(names: RunsSearch["status"]): RunStatus[] {
  return listedStatuses.filter((status) => names?.includes(nameOfStatus(status).name) === true);
}
