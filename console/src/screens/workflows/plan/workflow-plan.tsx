import type { Workflow } from "@reeve/contracts/extensions/workflow";
import { AgentService } from "@reeve/contracts/agent";
import { Permitted } from "../../../access/permitted.tsx";
import { plural } from "../../../format/amounts.ts";
import type { RunModel } from "../../../run/run-model.ts";
import { FlowView } from "../../../ui/flow/flow-view.tsx";
import { useNodeTypes } from "../use-node-types.ts";
import { ApplyPlan } from "./apply-plan.tsx";
import { CreateFromPlan } from "./create-from-plan.tsx";
import "../../../styles/workflows.css";

interface WorkflowPlanProps {
  readonly graph: Workflow;
  readonly run: RunModel;
}

/** A workflow that an agent planned, as a graph. Nothing is stored until a person applies it. */
export function WorkflowPlan({ graph, run }: WorkflowPlanProps) {
  const { typeOf, isPending } = useNodeTypes();
  const edited = run.chatContext?.workflowId ?? "";
  return (
    <section className="workflow-plan" aria-label="Planned workflow">
      <p className="row">
        <strong>A planned workflow</strong>
        <span className="muted">
          {plural(graph.nodes.length, "node")}, {plural(graph.edges.length, "edge")}. Nothing is
          stored until you apply it.
        </span>
      </p>
      {!isPending && <FlowView label="Graph of the plan" graph={graph} typeOf={typeOf} />}
      <div className="row">
        {edited !== "" && (
          <Permitted method={AgentService.method.updateAgent} action={`Changing ${edited}`}>
            <ApplyPlan agentId={edited} graph={graph} />
          </Permitted>
        )}
        {run.spec !== undefined && (
          <Permitted method={AgentService.method.createAgent} action="Creating a workflow">
            <CreateFromPlan planner={run.spec} graph={graph} />
          </Permitted>
        )}
      </div>
    </section>
  );
}
