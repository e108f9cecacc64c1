import { useQuery } from "@connectrpc/connect-query";
import { Link, getRouteApi } from "@tanstack/react-router";
import type { Agent } from "@reeve/contracts/agent";
import { AgentService } from "@reeve/contracts/agent";
import { Permitted } from "../../access/permitted.tsx";
import { problemOf } from "../../api/problem.ts";
import { msOf } from "../../format/time.ts";
import { Empty } from "../../ui/empty.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { ProblemView } from "../../ui/problem-view.tsx";
import { Ago } from "../../ui/times.tsx";
import { NewWorkflow } from "./new-workflow.tsx";
import { WorkflowView } from "./workflow-view.tsx";
import "../../styles/agents.css";
import "../../styles/workflows.css";

const route = getRouteApi("/workflows/{-$agentId}");

/** The workflows of the tenant, or one of them. */
export function WorkflowsScreen() {
  const { agentId } = route.useParams();
  const { create } = route.useSearch();
  if (agentId !== undefined) return <WorkflowView key={agentId} agentId={agentId} />;
  return create === true ? <NewWorkflow /> : <WorkflowList />;
}

function WorkflowList() {
  const { data, error, refetch, isPending } = useQuery(AgentService.method.listAgents, {
    pageSize: 1_000,
    hasWorkflow: true,
  });
  return (
    <>
      <PageHead title="Workflows">
        <Permitted method={AgentService.method.createAgent} action="Creating a workflow">
          <Link
            to="/workflows/{-$agentId}"
            params={{ agentId: undefined }}
            search={{ create: true }}
            className="button primary"
          >
            Create a workflow
          </Link>
        </Permitted>
        <Link to="/chat/{-$threadId}" params={{ threadId: undefined }} search={{ workflow: "" }}>
          Have an agent plan one
        </Link>
      </PageHead>
      {error !== null && <ProblemView problem={problemOf(error)} onRetry={() => void refetch()} />}
      {isPending && (
        <p className="loading" role="status">
          Loading workflows …
        </p>
      )}
      {data?.agents.length === 0 && (
        <Empty title="No workflow yet">
          <p>
            A workflow is an agent whose next steps come from a graph instead of a model. Create one
            here, have an agent plan one, or store files:
          </p>
          <pre className="code">reeve apply -f examples/workflow</pre>
        </Empty>
      )}
      {data !== undefined && data.agents.length > 0 && <Table workflows={data.agents} />}
    </>
  );
}

function Table({ workflows }: { readonly workflows: readonly Agent[] }) {
  return (
    <div className="table-box">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Workflow</th>
            <th scope="col" className="number">
              Nodes
            </th>
            <th scope="col">Calls</th>
            <th scope="col" className="number">
              Revision
            </th>
            <th scope="col">Changed</th>
          </tr>
        </thead>
        <tbody>
          {workflows.map(({ spec, revision, updatedAt, createdBy }) => (
            <tr key={spec?.id}>
              <td>
                <Link
                  to="/workflows/{-$agentId}"
                  params={{ agentId: spec?.id ?? "" }}
                  className="row-link"
                >
                  {spec?.name}
                </Link>
                <span className="sub mono">{spec?.id}</span>
              </td>
              <td className="number">{spec?.workflow?.nodes.length ?? 0}</td>
              <td className="wrap mono">{spec?.delegates.join(", ") || "–"}</td>
              <td className="number">{revision}</td>
              <td>
                <Ago ms={msOf(updatedAt)} />
                {createdBy !== "" && <span className="muted"> by {createdBy}</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
