import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import type { Agent } from "@reeve/contracts/agent";
import { AgentService } from "@reeve/contracts/agent";
import { RunService } from "@reeve/contracts/run";
import { useAccess } from "../../access/use-access.ts";
import { problemOf } from "../../api/problem.ts";
import { Empty } from "../../ui/empty.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { ProblemView } from "../../ui/problem-view.tsx";
import { StaleRevision, useBaseRevision } from "../agents/base-revision.tsx";
import { WorkflowCrumbs } from "./workflow-crumbs.tsx";
import { WorkflowEditor } from "./workflow-editor.tsx";

/** One workflow on a canvas. */
export function WorkflowView({ agentId }: { readonly agentId: string }) {
  const mayStart = useAccess().whyNot(RunService.method.startRun) === undefined;
  const { data, error, refetch } = useQuery(AgentService.method.getAgent, { agentId });
  const agent = data?.agent;
  return (
    <>
      <WorkflowCrumbs>
        <span className="mono">{agentId}</span>
      </WorkflowCrumbs>
      <PageHead title={agent?.spec?.name ?? agentId}>
        {mayStart && (
          <>
            <Link to="/start" search={{ agent: agentId }} className="button primary">
              Start a run
            </Link>
            <Link
              to="/chat/{-$threadId}"
              params={{ threadId: undefined }}
              search={{ workflow: agentId }}
            >
              Ask an agent to change it
            </Link>
          </>
        )}
        <Link to="/runs" search={{ agent: agentId }}>
          Runs
        </Link>
        <Link to="/agents/{-$agentId}" params={{ agentId }} search={{ part: "revisions" }}>
          Revisions
        </Link>
      </PageHead>
      {error !== null && <ProblemView problem={problemOf(error)} />}
      {agent?.spec !== undefined && agent.spec.workflow === undefined && (
        <Empty title="This agent has no workflow">
          <Link to="/agents/{-$agentId}" params={{ agentId }}>
            Show the agent
          </Link>
        </Empty>
      )}
      {agent?.spec?.workflow !== undefined && (
        <Editor key={agentId} agent={agent} read={async () => (await refetch()).data?.agent} />
      )}
    </>
  );
}

interface EditorProps {
  readonly agent: Agent;
  /** Reads the agent again. */
  readonly read: () => Promise<Agent | undefined>;
}

function Editor({ agent, read }: EditorProps) {
  const base = useBaseRevision(agent, read);
  if (base.agent.spec === undefined) return null;
  return (
    <>
      <StaleRevision agent={agent} base={base} />
      <WorkflowEditor
        key={base.agent.revision}
        spec={base.agent.spec}
        revision={base.agent.revision}
        onSaved={() => void base.onSaved()}
      />
    </>
  );
}
