import { Link, getRouteApi } from "@tanstack/react-router";
import { useCallback, useMemo, useState } from "react";
import { RunService } from "@reeve/contracts/run";
import { problemOf } from "../../api/problem.ts";
import { Permitted } from "../../access/permitted.tsx";
import { Empty } from "../../ui/empty.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { ProblemView } from "../../ui/problem-view.tsx";
import { hasValues } from "../../loading/only-known.ts";
import { useMinute } from "../../ui/use-now.ts";
import { BulkActions, maxChosen } from "./bulk/bulk-actions.tsx";
import { filterOf } from "./filter-of.ts";
import { NoRuns } from "./no-runs.tsx";
import { RunFilters } from "./run-filters.tsx";
import { intervalOf } from "./summary/run-intervals.ts";
import { RunSummary } from "./summary/run-summary.tsx";
import { RunTable } from "./run-table.tsx";
import { SavedViews } from "./views/saved-views.tsx";
import { useRunCounts } from "./summary/use-run-counts.ts";
import { useRunList } from "./use-run-list.ts";
import "../../styles/runs.css";

const route = getRouteApi("/runs");

/** The runs of the tenant, newest first, kept current: which, how many, when, and at what cost. */
export function RunsScreen() {
  const search = route.useSearch();
  const minute = useMinute();
  const filter = useMemo(() => filterOf(search, minute * 60_000), [search, minute]);
  const isByCost = search.by === "cost";
  const list = useRunList(filter, { isByCost });
  const isByStatus = search.status !== undefined;
  const ofAnyStatus = useMemo(() => ({ ...filter, statuses: [] }), [filter]);
  const intervalMs = intervalOf(search);
  const options = { intervalMs, isListShown: !list.isPending };
  const others = useRunCounts(ofAnyStatus, options);
  const counts = useRunCounts(isByStatus ? filter : ofAnyStatus, options);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const choose = useCallback(
    (runId: string, isChosen: boolean) =>
      setChosen((before) => {
        const next = new Set(before);
        if (isChosen && next.size < maxChosen) next.add(runId);
        if (!isChosen) next.delete(runId);
        return next;
      }),
    [],
  );
  const chooseAll = (areChosen: boolean) =>
    setChosen(new Set(areChosen ? list.runs.slice(0, maxChosen).map(({ runId }) => runId) : []));
  return (
    <>
      <PageHead title="Runs">
        <Permitted method={RunService.method.startRun} action="Starting a run">
          <Link to="/start" className="button primary">
            Start a run
          </Link>
        </Permitted>
      </PageHead>
      <SavedViews search={search} />
      <RunFilters search={search} counts={others} />
      <RunSummary search={search} counts={counts} />
      <BulkActions
        chosen={list.runs.filter(({ runId }) => chosen.has(runId))}
        onDone={() => {
          setChosen(new Set());
          list.refetch();
        }}
      />
      {list.error !== null && (
        <ProblemView problem={problemOf(list.error)} onRetry={list.refetch} />
      )}
      {isByCost && list.error === null && (
        <p className="hint">
          The most expensive runs first: at most 100 of the{" "}
          {list.isPartial ? "newest 10,000 runs" : "runs"} that match, with what they have cost so
          far.
        </p>
      )}
      {list.isPending ? (
        <p className="loading" role="status">
          Loading runs …
        </p>
      ) : list.runs.length > 0 ? (
        <RunTable
          runs={list.runs}
          chosen={chosen}
          onChoose={choose}
          onChooseAll={chooseAll}
          onEnd={list.readMore}
        />
      ) : (
        list.error === null && <Nothing search={search} hasMore={list.hasMore} />
      )}
      <ListEnd list={list} />
    </>
  );
}

interface NothingProps {
  readonly search: object;
  readonly hasMore: boolean;
}

function Nothing({ search, hasMore }: NothingProps) {
  if (!hasValues(search)) return <NoRuns />;
  return (
    <Empty title={hasMore ? "No run matches so far" : "No run matches the filters"}>
      {hasMore ? "Older runs were not searched yet." : "Remove a filter to see more runs."}
    </Empty>
  );
}

function ListEnd({ list }: { readonly list: ReturnType<typeof useRunList> }) {
  return (
    <>
      {list.hasMore && (
        <button
          type="button"
          className="button wide"
          disabled={list.isReadingMore}
          onClick={list.readMore}
        >
          {list.isReadingMore ? "Loading …" : "Show older runs"}
        </button>
      )}
      {!list.isLive && (
        <p className="muted">
          This list is long, so it is not kept current.{" "}
          <button type="button" className="button quiet" onClick={list.refetch}>
            Read it again
          </button>
        </p>
      )}
    </>
  );
}
