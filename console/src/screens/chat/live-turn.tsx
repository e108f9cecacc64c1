import { Link } from "@tanstack/react-router";
import { ApprovalState } from "@reeve/contracts/approval";
import { isTerminal } from "../../format/names.ts";
import { useRunFeed } from "../../run/feed/use-run-feed.ts";
import { ProblemView } from "../../ui/problem-view.tsx";
import { PendingApprovals } from "../approval/live-approval.tsx";
import { FrameItems } from "../run/conversation/frame-items.tsx";
import { Working } from "../run/conversation/working.tsx";

/** A turn of a thread as it happens, and as it was when it has ended. */
export function LiveTurn({ runId }: { readonly runId: string }) {
  const { run, problem, state } = useRunFeed(runId);
  const pending = [...run.approvals.values()].filter(
    (approval) => approval.state === ApprovalState.PENDING,
  );
  return (
    <>
      {state === "refused" && problem !== undefined && <ProblemView problem={problem} />}
      <FrameItems frame={run.root} run={run} version={run.root.version} />
      <PendingApprovals run={run} />
      <Working run={run} isWaiting={pending.length > 0} />
      {isTerminal(run.status) && (
        <p className="sub">
          <Link to="/runs/$runId/{-$view}" params={{ runId }}>
            Show the run
          </Link>
        </p>
      )}
    </>
  );
}
