import { useRunFeed } from "../../run/feed/use-run-feed.ts";
import { buildWorkflowName } from "../workflows/plan/read-plan.ts";
import { PlannedWorkflow } from "../run/conversation/planned-workflow.tsx";

/** The workflows that a turn planned, which the log of its run has. */
export function PastPlan({ runId }: { readonly runId: string }) {
  const { run } = useRunFeed(runId);
  return [...run.calls.values()]
    .filter(({ call }) => call.name === buildWorkflowName)
    .map((call) => <PlannedWorkflow key={call.key} call={call} run={run} />);
}
