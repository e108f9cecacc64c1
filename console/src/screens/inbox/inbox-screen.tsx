import { useQuery } from "@connectrpc/connect-query";
import { Link, getRouteApi, useNavigate } from "@tanstack/react-router";
import type { Approval } from "@reeve/contracts/approval";
import { ToolService } from "@reeve/contracts/tool";
import { useState } from "react";
import { problemOf } from "../../api/problem.ts";
import { pendingCount, useApprovalCounts } from "../../api/use-approval-counts.ts";
import { usePendingApprovals } from "../../api/use-pending-approvals.ts";
import { shownCount } from "../../format/amounts.ts";
import { Empty } from "../../ui/empty.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { ProblemView } from "../../ui/problem-view.tsx";
import { useNow } from "../../ui/use-now.ts";
import { ApprovalPanel } from "../approval/approval-panel.tsx";
import { BulkDecision } from "./bulk-decision.tsx";
import { ClosedApprovals } from "./closed-approvals.tsx";
import { InboxFilters } from "./inbox-filters.tsx";
import { filterOf } from "./inbox-search.ts";
import { WaitingList } from "./waiting-list.tsx";
import "../../styles/inbox.css";

const route = getRouteApi("/inbox/{-$approvalId}");

/** Everything that waits for a person, oldest first, and what was decided. */
export function InboxScreen() {
  const { approvalId } = route.useParams();
  const search = route.useSearch();
  const counts = useApprovalCounts();
  const filter = filterOf(search, useNow());
  const { approvals, isPending, error, refetch, ...more } = usePendingApprovals(filter);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const choose = (id: string, isChosen: boolean) =>
    setChosen(
      (before) => new Set([...before].filter((each) => each !== id).concat(isChosen ? [id] : [])),
    );
  const found = approvals.findIndex((each) => each.approvalId === approvalId);
  const at = found === -1 ? 0 : found;
  return (
    <>
      <PageHead title="Inbox">
        <span className="muted">
          {shownCount(pendingCount(counts))} waiting, {shownCount(counts?.waitingForMe)} for you
        </span>
      </PageHead>
      <InboxFilters search={search} counts={counts} />
      {error !== null && <ProblemView problem={problemOf(error)} onRetry={refetch} />}
      {isPending ? (
        <p className="loading" role="status">
          Loading decisions …
        </p>
      ) : approvals.length === 0 ? (
        <NothingWaits isFiltered={Object.keys(search).length > 0} />
      ) : (
        <div className="inbox">
          <BulkDecision
            chosen={approvals.filter((each) => chosen.has(each.approvalId))}
            onDecided={(ids) => {
              for (const id of ids) choose(id, false);
              refetch();
            }}
          />
          <WaitingList approvals={approvals} at={at} chosen={chosen} onChoose={choose} />
          <Chosen approval={approvals[at]} onDecided={refetch} />
        </div>
      )}
      {more.hasMore && (
        <button
          type="button"
          className="button wide"
          disabled={more.isReadingMore}
          onClick={more.readMore}
        >
          {more.isReadingMore ? "Searching …" : "Search further"}
        </button>
      )}
      <ClosedApprovals />
    </>
  );
}

function NothingWaits({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <Empty title="No decision matches the filters">Remove a filter to see more decisions.</Empty>
    );
  }
  return (
    <Empty title="Nothing waits for you">
      Calls of tools that an agent names in <code>hitl_tools</code>, and questions of tools, appear
      here.
    </Empty>
  );
}

interface ChosenProps {
  readonly approval: Approval | undefined;
  readonly onDecided: () => void;
}

function Chosen({ approval, onDecided }: ChosenProps) {
  const navigate = useNavigate();
  const tools = useQuery(ToolService.method.listTools, {}).data?.tools;
  if (approval === undefined) return null;
  const schema = tools?.find(({ name }) => name === approval.call?.name)?.inputSchema;
  return (
    <div className="inbox-chosen">
      <ApprovalPanel
        key={approval.approvalId}
        approval={approval}
        schema={schema}
        onNoted={onDecided}
        onDecided={() => {
          void navigate({
            to: "/inbox/{-$approvalId}",
            params: { approvalId: undefined },
            search: true,
            replace: true,
          });
          onDecided();
        }}
      />
      <Link to="/runs/$runId/{-$view}" params={{ runId: approval.runId, view: undefined }}>
        Show the run
      </Link>
    </div>
  );
}
