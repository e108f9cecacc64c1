import { createConnectQueryKey } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { Link, Navigate, getRouteApi, useNavigate } from "@tanstack/react-router";
import { ApprovalService, ApprovalState } from "@reeve/contracts/approval";
import { useState } from "react";
import { problemOf } from "../../api/problem.ts";
import { pendingCount, useApprovalCounts } from "../../api/use-approval-counts.ts";
import { usePendingApprovals } from "../../api/use-pending-approvals.ts";
import { shownCount } from "../../format/amounts.ts";
import { Empty } from "../../ui/empty.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { hasValues } from "../../loading/only-known.ts";
import { ProblemView } from "../../ui/problem-view.tsx";
import { useNow } from "../../ui/use-now.ts";
import { noticeOf } from "../approval/decision-notice.ts";
import { ClosedApprovals } from "./closed-approvals.tsx";
import { Grants } from "./grants.tsx";
import { InboxFilters } from "./inbox-filters.tsx";
import { filterOf } from "./inbox-search.ts";
import { NamedApproval } from "./named-approval.tsx";
import { firstApproval, nextApproval } from "./shown-approval.ts";
import { WaitingChoices } from "./waiting-choices.tsx";
import "../../styles/inbox.css";

const countsKey = createConnectQueryKey({
  schema: ApprovalService.method.countApprovals,
  cardinality: "finite",
});

const route = getRouteApi("/inbox/{-$approvalId}");

/** The inbox with an approval, and the filters as they are. */
function toInbox(approvalId: string | undefined) {
  return {
    to: "/inbox/{-$approvalId}",
    params: { approvalId },
    search: true,
    replace: true,
  } as const;
}

/** Everything that waits for a person, oldest first, and what was decided. */
export function InboxScreen() {
  const { approvalId } = route.useParams();
  const search = route.useSearch();
  const counts = useApprovalCounts();
  const filter = filterOf(search, useNow());
  const { approvals: read, isPending, error, refetch, ...more } = usePendingApprovals(filter);
  // What this person has decided waits no more, although the list has it until it is read again.
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const approvals = read.filter((each) => !closed.has(each.approvalId));
  const [notice, setNotice] = useState<Notice>({ text: "", runId: undefined });
  const [decidedId, setDecidedId] = useState("");
  const client = useQueryClient();
  const navigate = useNavigate();
  const first = firstApproval(approvals, more);
  return (
    <>
      <PageHead title="Inbox">
        <span className="muted">
          {counts?.waitingForMe !== undefined && `${shownCount(counts.waitingForMe)} for you, `}
          {shownCount(pendingCount(counts))} in all
        </span>
      </PageHead>
      <InboxFilters search={search} counts={counts} />
      <NoticeView notice={notice} />
      {error !== null && <ProblemView problem={problemOf(error)} onRetry={refetch} />}
      {isPending ? (
        <p className="loading" role="status">
          Loading decisions …
        </p>
      ) : approvals.length === 0 && approvalId === undefined ? (
        <NothingWaits isFiltered={hasValues(search)} />
      ) : (
        <div className="inbox">
          <WaitingChoices
            // What is chosen ends with the filters: it could come back unseen when one is removed.
            key={JSON.stringify(search)}
            approvals={approvals}
            shownId={approvalId}
            decidedId={decidedId}
            onDecided={refetch}
          />
          {approvalId !== undefined ? (
            <NamedApproval
              approvalId={approvalId}
              listed={approvals}
              onNoted={refetch}
              onDecided={(decided) => {
                setNotice({ text: noticeOf(decided), runId: decided?.runId });
                if (decided !== undefined) {
                  // A vote may not be the last one.
                  if (decided.state !== ApprovalState.PENDING) {
                    setClosed((before) => new Set(before).add(decided.approvalId));
                  }
                  setDecidedId(decided.approvalId);
                  const next = nextApproval(approvals, decided.approvalId);
                  void navigate(toInbox(next?.approvalId ?? decided.approvalId));
                }
                refetch();
                void client.invalidateQueries({ queryKey: countsKey });
              }}
            />
          ) : (
            // The address names what is shown, so that no list that is read again replaces it under the mouse.
            first !== undefined && <Navigate {...toInbox(first.approvalId)} />
          )}
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
      <Grants />
      <ClosedApprovals />
    </>
  );
}

interface Notice {
  readonly text: string;
  readonly runId: string | undefined;
}

/** What the last decision did. Always present, so that it is read aloud when it changes. */
function NoticeView({ notice: { text, runId } }: { readonly notice: Notice }) {
  return (
    <p role="status" className={text === "" ? "" : "notice"}>
      {text}{" "}
      {runId !== undefined && (
        <Link to="/runs/$runId/{-$view}" params={{ runId, view: undefined }}>
          Show its run
        </Link>
      )}
    </p>
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
