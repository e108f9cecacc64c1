import type { CountRunsResponse } from "@reeve/contracts/run";
import { Suspense, lazy, useMemo } from "react";
import { formatCount, formatDollars, plural } from "../../../format/amounts.ts";
import { retried } from "../../../loading/retried.ts";
import { useMinute } from "../../../ui/use-now.ts";
import { barsOf, intervalOf } from "./run-intervals.ts";
import type { RunsSearch } from "../runs-search.ts";
import { maxAgeMs } from "../runs-search.ts";

/** The library of the chart is loaded after the list is shown. */
const loadChart = retried(() => import("./run-chart.tsx"));
const RunChart = lazy(async () => ({ default: (await loadChart()).RunChart }));

interface RunSummaryProps {
  readonly search: RunsSearch;
  readonly counts: CountRunsResponse | undefined;
}

/** How many runs match, what they cost, and when they were started. Keeps its height while it is loaded. */
export function RunSummary({ search, counts }: RunSummaryProps) {
  const intervalMs = intervalOf(search);
  const minute = useMinute();
  const bars = useMemo(() => {
    const nowMs = minute * 60_000;
    const ageMs = maxAgeMs(search);
    const fromMs = ageMs === undefined ? undefined : nowMs - ageMs;
    return barsOf(counts?.intervals ?? [], { intervalMs, fromMs, nowMs });
  }, [counts, intervalMs, search, minute]);
  const total = counts?.statuses.reduce((sum, { count }) => sum + count, 0) ?? 0;
  const failed = bars.reduce((sum, bar) => sum + bar.failed, 0);
  return (
    <section className="run-summary" aria-label="Summary of the runs">
      <p>
        <strong className="tabular">
          {counts === undefined ? "…" : formatCount(total)}
          {counts?.isPartial === true && "+"}
        </strong>{" "}
        {total === 1 ? "run" : "runs"}
        {counts !== undefined && (
          <span className="muted"> · {formatDollars(counts.costUsd)} so far</span>
        )}
        {counts?.isPartial === true && (
          <span className="muted"> · only the newest are counted</span>
        )}
      </p>
      <div
        className="run-chart"
        role="img"
        aria-label={`Runs over time: ${plural(bars.length, "interval")}, ${formatCount(failed)} failed`}
      >
        <Suspense fallback={null}>
          {total > 0 && <RunChart bars={bars} intervalMs={intervalMs} />}
        </Suspense>
      </div>
    </section>
  );
}
