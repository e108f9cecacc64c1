import { useInfiniteQuery } from "@connectrpc/connect-query";
import { getRouteApi } from "@tanstack/react-router";
import { AuditService } from "@reeve/contracts/audit";
import { problemOf } from "../../api/problem.ts";
import { Empty } from "../../ui/empty.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { ProblemView } from "../../ui/problem-view.tsx";
import { useMinute } from "../../ui/use-now.ts";
import { AuditFilters } from "./audit-filters.tsx";
import { requestOf } from "./audit-search.ts";
import { AuditTable } from "./audit-table.tsx";
import { groupEvents, singleEvents } from "./group-events.ts";

const route = getRouteApi("/audit");

/** Who did what, or tried to. Operators only. */
export function AuditScreen() {
  const search = route.useSearch();
  const nowMs = useMinute() * 60_000;
  const query = useInfiniteQuery(AuditService.method.listAuditEvents, requestOf(search, nowMs), {
    pageParamKey: "pageToken",
    getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
  });
  const events = query.data?.pages.flatMap((page) => page.events) ?? [];
  const groups = search.single === true ? singleEvents(events) : groupEvents(events);
  return (
    <>
      <PageHead title="Audit" />
      <AuditFilters search={search} />
      {query.error !== null && <ProblemView problem={problemOf(query.error)} />}
      {query.isPending && (
        <p className="loading" role="status">
          Loading events …
        </p>
      )}
      {query.isSuccess && groups.length === 0 && (
        <Empty title="No event matches">
          Remove a filter, list reads too, or look at older events.
        </Empty>
      )}
      {groups.length > 0 && <AuditTable groups={groups} />}
      {query.hasNextPage && (
        <button
          type="button"
          className="button wide"
          disabled={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          Show older events
        </button>
      )}
    </>
  );
}
