import { ApprovalState } from "@reeve/contracts/approval";
import { useRunFeed } from "../../run/use-run-feed.ts";
import { ProblemView } from "../../ui/problem-view.tsx";
import { ApprovalPanel } from "../approval/approval-panel.tsx";
import { FrameItems } from "../run/conversation/frame-items.tsx";
import { Working } from "../run/conversation/working.tsx";

/** The active turn of a thread, as it happens. */
export function LiveTurn({ runId }: { readonly runId: string }) {
  const { run, problem, state } = useRunFeed(runId);
  const pending = [...run.approvals.values()].filter(
    (approval) => approval.state === ApprovalState.PENDING,
  );
  return (
    <>
      {state === "refused" && problem !== undefined && <ProblemView problem={problem} />}
      <FrameItems frame={run.root} run={run} version={run.root.version} />
      {pending.map((approval) => (
        <ApprovalPanel
          key={approval.approvalId}
          approval={approval}
          schema={run.prepared?.tools.find(({ name }) => name === approval.call?.name)?.inputSchema}
        />
      ))}
      <Working run={run} isWaiting={pending.length > 0} />
    </>
  );
}
