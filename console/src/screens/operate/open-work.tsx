import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { RunService, RunStatus } from "@reeve/contracts/run";
import type { ReactNode } from "react";
import { pendingCount, useApprovalCounts } from "../../api/use-approval-counts.ts";
import { problemOf } from "../../api/problem.ts";
import { formatCount, formatDollars, shownCount } from "../../format/amounts.ts";
import { nameOfStatus } from "../../format/names.ts";
import { ProblemView } from "../../ui/problem-view.tsx";

const open = [RunStatus.QUEUED, RunStatus.RUNNING, RunStatus.WAITING, RunStatus.ERROR] as const;

/** How much work there is. Each number leads to what it counts. */
export function OpenWork() {
  const { data, error, refetch } = useQuery(
    RunService.method.countRuns,
    {},
    { refetchInterval: 10_000 },
  );
  const approvals = useApprovalCounts();
  if (error !== null) {
    return <ProblemView problem={problemOf(error)} onRetry={() => void refetch()} />;
  }
  const more = data?.isPartial === true ? "+" : "";
  const countOf = (status: RunStatus) =>
    data?.statuses.find((each) => each.status === status)?.count ?? 0;
  const shown = (count: number) => (data === undefined ? "…" : `${formatCount(count)}${more}`);
  return (
    <ul className="figures" aria-label="Open work">
      {open.map((status) => {
        const { name } = nameOfStatus(status);
        const starting = status === RunStatus.RUNNING ? countOf(RunStatus.STARTING) : 0;
        return (
          <Figure key={status} value={shown(countOf(status) + starting)}>
            <Link to="/runs" search={{ status: [name] }}>
              {name} runs
            </Link>
          </Figure>
        );
      })}
      <Figure value={approvals === undefined ? "…" : shownCount(pendingCount(approvals))}>
        <Link to="/inbox/{-$approvalId}" params={{ approvalId: undefined }}>
          decisions that wait
        </Link>
      </Figure>
      <Figure value={data === undefined ? "…" : formatDollars(data.costUsd)}>
        <Link to="/runs">cost of the runs</Link>
      </Figure>
    </ul>
  );
}

function Figure({ value, children }: { readonly value: string; readonly children: ReactNode }) {
  return (
    <li className="figure">
      <strong className="tabular">{value}</strong>
      {children}
    </li>
  );
}
