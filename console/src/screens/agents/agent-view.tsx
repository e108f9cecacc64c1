import { create } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import { Link, getRouteApi, useNavigate } from "@tanstack/react-router";
import type { Agent } from "@reeve/contracts/agent";
import { AgentService, AgentSpecSchema } from "@reeve/contracts/agent";
import { problemOf } from "../../api/problem.ts";
import { useAccess } from "../../access/use-access.ts";
import { RunService } from "@reeve/contracts/run";
import { msOf } from "../../format/time.ts";
import { PageHead } from "../../ui/page-head.tsx";
import { ProblemView } from "../../ui/problem-view.tsx";
import { Ago } from "../../ui/times.tsx";
import { AgentAccess } from "./agent-access.tsx";
import { AgentCrumbs } from "./agent-crumbs.tsx";
import { AgentEditor } from "./agent-editor.tsx";
import { AgentRevisions } from "./agent-revisions.tsx";
import { StaleRevision, useBaseRevision } from "./base-revision.tsx";

const parts = { spec: "Spec", revisions: "Revisions", access: "What it may use" } as const;
type Part = keyof typeof parts;

const route = getRouteApi("/agents/{-$agentId}");

function isPart(name: string): name is Part {
  return Object.hasOwn(parts, name);
}

/** One agent: its spec, which can be changed, and what it may use. */
export function AgentView({ agentId }: { readonly agentId: string }) {
  const { part: asked = "spec" } = route.useSearch();
  const { whyNot } = useAccess();
  const mayStart = whyNot(RunService.method.startRun) === undefined;
  const mayExplain = whyNot(AgentService.method.explainAgent) === undefined;
  const part = asked === "access" && !mayExplain ? "spec" : asked;
  const navigate = useNavigate();
  const show = (next: Part) =>
    void navigate({
      to: "/agents/{-$agentId}",
      params: { agentId },
      search: next === "spec" ? {} : { part: next },
      replace: true,
    });
  const { data, error, refetch } = useQuery(AgentService.method.getAgent, { agentId });
  const agent = data?.agent;
  const shownParts = Object.entries(parts).filter(([key]) => key !== "access" || mayExplain);
  return (
    <>
      <AgentCrumbs>
        <span className="mono">{agentId}</span>
      </AgentCrumbs>
      <PageHead title={agent?.spec?.name ?? agentId}>
        {mayStart && (
          <Link to="/start" search={{ agent: agentId }} className="button primary">
            Start a run
          </Link>
        )}
        {agent?.spec?.workflow !== undefined && (
          <Link to="/workflows/{-$agentId}" params={{ agentId }}>
            Canvas
          </Link>
        )}
        <Link to="/runs" search={{ agent: agentId }}>
          Runs
        </Link>
        <Link to="/chat/{-$threadId}" params={{ threadId: undefined }} search={{ agent: agentId }}>
          Chat
        </Link>
      </PageHead>
      {error !== null && <ProblemView problem={problemOf(error)} />}
      {agent !== undefined && (
        <>
          <p className="muted">
            Revision {agent.revision}, changed <Ago ms={msOf(agent.updatedAt)} />
            {agent.createdBy !== "" && ` by ${agent.createdBy}`}. Runs keep the revision with which
            they were started.
          </p>
          <div className="tabs plain" role="group" aria-label="Parts of the agent">
            {shownParts.map(([key, name]) => (
              <button
                key={key}
                type="button"
                className="tab"
                aria-pressed={key === part}
                onClick={() => show(isPart(key) ? key : "spec")}
              >
                {name}
              </button>
            ))}
          </div>
          {part === "spec" ? (
            <SpecPart
              key={agentId}
              agent={agent}
              read={async () => (await refetch()).data?.agent}
            />
          ) : part === "revisions" ? (
            <AgentRevisions key={agent.revision} agent={agent} onRestored={() => void refetch()} />
          ) : (
            <AgentAccess agentId={agentId} />
          )}
        </>
      )}
    </>
  );
}

interface SpecPartProps {
  readonly agent: Agent;
  /** Reads the agent again. */
  readonly read: () => Promise<Agent | undefined>;
}

/** The editor of the revision that was shown first. */
function SpecPart({ agent, read }: SpecPartProps) {
  const base = useBaseRevision(agent, read);
  return (
    <>
      <StaleRevision agent={agent} base={base} />
      <AgentEditor
        key={base.agent.revision}
        spec={base.agent.spec ?? create(AgentSpecSchema)}
        revision={base.agent.revision}
        onSaved={() => void base.onSaved()}
      />
    </>
  );
}
