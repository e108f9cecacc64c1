import { Link } from "@tanstack/react-router";
import { ApprovalState } from "@reeve/contracts/approval";
import { useEffect } from "react";
import { isTerminal } from "../../format/names.ts";
import { useRunFeed } from "../../run/feed/use-run-feed.ts";
import { ProblemView } from "../../ui/problem-view.tsx";
import { PendingApprovals } from "../approval/live-approval.tsx";
import { FrameItems } from "../run/conversation/frame-items.tsx";
import { Working } from "../run/conversation/working.tsx";

interface LiveTurnProps {
  readonly runId: string;
  /** Called with the number of its events when the run has ended. */
  readonly onEnded: (runId: string, events: number) => void;
}

/** A turn of a thread as it happens, and as it was when it has ended. */
export function LiveTurn({ runId, onEnded }: LiveTurnProps) {
  const { run, problem, state } = useRunFeed(runId);
  const isOver = state === "ended";
  const events = run.events.length;
  useEffect(() => {
    if (isOver) onEnded(runId, events);
  }, [isOver, runId, events, onEnded]);
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
