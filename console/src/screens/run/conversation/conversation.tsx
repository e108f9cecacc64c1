import { ApprovalState } from "@reeve/contracts/approval";
import { RunService } from "@reeve/contracts/run";
import { isTerminal } from "../../../format/names.ts";
import { msOf } from "../../../format/time.ts";
import { Empty } from "../../../ui/empty.tsx";
import { Permitted } from "../../../access/permitted.tsx";
import { PendingApprovals } from "../../approval/live-approval.tsx";
import { Composer } from "./composer.tsx";
import { FrameItems } from "./frame-items.tsx";
import type { RunViewProps } from "../view-props.ts";
import { Sources } from "./sources.tsx";
import { Working } from "./working.tsx";
import { useStickToEnd } from "./use-stick-to-end.ts";

/** The run as a conversation: text, calls, and what subtasks did, in the order in which it happened. */
export function Conversation({ snapshot }: RunViewProps) {
  const { run, state } = snapshot;
  const end = useStickToEnd({
    version: run.version,
    isLive: !isTerminal(run.status),
    newestMs: msOf(run.events.at(-1)?.time),
  });
  const pending = [...run.approvals.values()].filter(
    (approval) => approval.state === ApprovalState.PENDING,
  );
  if (run.events.length === 0) {
    return state === "ended" ? (
      <Empty title="This run has no events">Its log is empty.</Empty>
    ) : (
      <p className="loading" role="status">
        Loading the run …
      </p>
    );
  }
  return (
    <div className="conversation">
      {run.plan.length > 0 && (
        <section className="plan" aria-label="Plan">
          <h2>Plan</h2>
          <ol>
            {run.plan.map((step, index) => (
              // A plan may have the same step twice, and never changes.
              <li key={index}>{step}</li>
            ))}
          </ol>
        </section>
      )}
      <FrameItems frame={run.root} run={run} version={run.root.version} />
      <Sources run={run} version={run.version} />
      <PendingApprovals run={run} />
      <Working run={run} isWaiting={pending.length > 0} />
      <div ref={end} />
      {!isTerminal(run.status) && run.spec?.workflow === undefined && (
        <Permitted method={RunService.method.sendMessage} action="Sending a message to the run">
          <Composer run={run} />
        </Permitted>
      )}
    </div>
  );
}
