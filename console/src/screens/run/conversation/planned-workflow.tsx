import { Suspense, lazy, useMemo } from "react";
import { retried } from "../../../loading/retried.ts";
import type { CallItem, RunModel } from "../../../run/run-model.ts";
import { buildWorkflowName, planOf } from "../../workflows/plan/read-plan.ts";

/** Few conversations have a plan, so what draws it is loaded when one does. */
const loadPlan = retried(() => import("../../workflows/plan/workflow-plan.tsx"));
const WorkflowPlan = lazy(async () => ({ default: (await loadPlan()).WorkflowPlan }));

interface PlannedWorkflowProps {
  readonly call: CallItem;
  readonly run: RunModel;
}

/** The workflow that a call planned. Nothing for other calls. */
export function PlannedWorkflow({ call: { call, result }, run }: PlannedWorkflowProps) {
  const isPlan = call.name === buildWorkflowName && result?.success === true;
  const found = isPlan ? result.result : undefined;
  const graph = useMemo(() => found && planOf(found), [found]);
  if (!isPlan) return null;
  if (graph === undefined) {
    return (
      <p className="note">
        The planned workflow is too large to show here. The result of the call names its file.
      </p>
    );
  }
  return (
    <Suspense fallback={<p className="loading">Loading the graph …</p>}>
      <WorkflowPlan graph={graph} run={run} />
    </Suspense>
  );
}
