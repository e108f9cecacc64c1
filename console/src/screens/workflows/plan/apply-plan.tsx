import { useMutation, useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { AgentService } from "@reeve/contracts/agent";
import type { Workflow } from "@reeve/contracts/extensions/workflow";
import { problemOf } from "../../../api/problem.ts";
import { DiffView } from "../../../ui/content/diff-view.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { ProblemView } from "../../../ui/problem-view.tsx";
import { specAsYaml } from "../../agents/spec-text.ts";
import { withPlan } from "./read-plan.ts";
import "../../../styles/files.css";

interface ApplyPlanProps {
  readonly agentId: string;
  readonly graph: Workflow;
}

/** Saves a plan as the next revision of a workflow, if nobody has changed the workflow since its changes were shown. */
export function ApplyPlan({ agentId, graph }: ApplyPlanProps) {
  const { data, error, refetch } = useQuery(AgentService.method.getAgent, { agentId });
  const update = useMutation(AgentService.method.updateAgent);
  const agent = data?.agent;
  if (error !== null) return <ProblemView problem={problemOf(error)} />;
  if (agent?.spec === undefined) return null;
  const { spec: before, revision } = agent;
  const spec = withPlan(before, graph);
  const saved = update.data?.agent?.revision;
  return (
    <>
      <Dialog
        label={`Apply to ${agentId} …`}
        title={`Replace the graph of ${agentId}?`}
        confirm={`Save it as revision ${revision + 1}`}
        isBusy={update.isPending}
        onConfirm={(close) =>
          update.mutate(
            { spec, revision },
            {
              onSuccess: () => {
                close();
                void refetch();
              },
            },
          )
        }
      >
        <p>Runs that have started keep their revision. This is what changes:</p>
        <DiffView
          before={specAsYaml(before)}
          after={specAsYaml(spec)}
          label="What the plan changes"
        />
        {update.error !== null && <ProblemView problem={problemOf(update.error)} />}
      </Dialog>
      {saved !== undefined && (
        <span role="status" className="hint">
          Saved as revision {saved}.{" "}
          <Link to="/workflows/{-$agentId}" params={{ agentId }}>
            Show {agentId}
          </Link>
        </span>
      )}
    </>
  );
}
