import { useMutation } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import type { AgentSpec } from "@reeve/contracts/agent";
import { AgentService } from "@reeve/contracts/agent";
import type { Workflow } from "@reeve/contracts/extensions/workflow";
import { useState } from "react";
import { problemOf } from "../../../api/problem.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { ProblemView } from "../../../ui/problem-view.tsx";
import { newFromPlan } from "./read-plan.ts";

interface CreateFromPlanProps {
  /** Spec of the agent that planned it. */
  readonly planner: AgentSpec;
  readonly graph: Workflow;
}

/** Stores a plan as a new workflow, with the tools and the rules of the agent that planned it. */
export function CreateFromPlan({ planner, graph }: CreateFromPlanProps) {
  const [id, setId] = useState("planned");
  const [name, setName] = useState("Planned workflow");
  const create = useMutation(AgentService.method.createAgent);
  const created = create.data?.agent?.spec?.id;
  return (
    <>
      <Dialog
        label="Create a workflow from it …"
        title="Create a workflow from the plan?"
        confirm="Create it"
        isBusy={create.isPending}
        onConfirm={(close) =>
          create.mutate(
            { spec: newFromPlan(planner, { id, name }, graph) },
            { onSuccess: () => close() },
          )
        }
      >
        <p>
          It has the tools, the delegates, and the rules of{" "}
          <span className="mono">{planner.id}</span>.
        </p>
        <label className="field">
          <span>Id</span>
          <input className="input mono" value={id} onChange={({ target }) => setId(target.value)} />
        </label>
        <label className="field">
          <span>Name</span>
          <input className="input" value={name} onChange={({ target }) => setName(target.value)} />
        </label>
        {create.error !== null && <ProblemView problem={problemOf(create.error)} />}
      </Dialog>
      {created !== undefined && (
        <span role="status" className="hint">
          Created.{" "}
          <Link to="/workflows/{-$agentId}" params={{ agentId: created }}>
            Show {created}
          </Link>
        </span>
      )}
    </>
  );
}
