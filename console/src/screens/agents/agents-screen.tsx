import { Link, getRouteApi } from "@tanstack/react-router";
import type { Agent } from "@reeve/contracts/agent";
import { msOf } from "../../format/time.ts";
import { Empty } from "../../ui/empty.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { Ago } from "../../ui/times.tsx";
import { AgentView } from "./agent-view.tsx";
import { CreateLink } from "./create-link.tsx";
import { LoadedAgents } from "./loaded-agents.tsx";
import { NewAgent } from "./new-agent.tsx";
import "../../styles/agents.css";

const route = getRouteApi("/agents/{-$agentId}");

/** The agents of the tenant, or one of them. */
export function AgentsScreen() {
  const { agentId } = route.useParams();
  const { create } = route.useSearch();
  if (agentId !== undefined) return <AgentView key={agentId} agentId={agentId} />;
  return create === true ? <NewAgent /> : <AgentList />;
}

function AgentList() {
  return (
    <>
      <PageHead title="Agents">
        <CreateLink />
      </PageHead>
      <LoadedAgents
        empty={
          <Empty title="No agent yet">
            <p>Create one here, or store a file:</p>
            <pre className="code">reeve agents apply -f examples/csv-report/agent.yaml</pre>
          </Empty>
        }
      >
        {(agents) => <Table agents={agents} />}
      </LoadedAgents>
    </>
  );
}

function Table({ agents }: { readonly agents: readonly Agent[] }) {
  return (
    <div className="table-box">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Agent</th>
            <th scope="col">Model</th>
            <th scope="col">Calls that need a decision</th>
            <th scope="col" className="number">
              Revision
            </th>
            <th scope="col">Changed</th>
          </tr>
        </thead>
        <tbody>
          {agents.map(({ spec, revision, updatedAt, createdBy }) => (
            <tr key={spec?.id}>
              <td>
                <Link
                  to="/agents/{-$agentId}"
                  params={{ agentId: spec?.id ?? "" }}
                  className="row-link"
                >
                  {spec?.name}
                </Link>
                <span className="sub mono">{spec?.id}</span>
              </td>
              <td>{spec?.model}</td>
              <td className="wrap mono">{spec?.hitlTools.join(", ") || "–"}</td>
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
