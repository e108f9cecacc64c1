import { create } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import { Link, getRouteApi, useNavigate } from "@tanstack/react-router";
import type { Agent } from "@reeve/contracts/agent";
import { AgentService, AgentSpecSchema } from "@reeve/contracts/agent";
import { useState } from "react";
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

/** The editor of the revision that was shown first. A revision that somebody else saves does not replace what is written here. */
function SpecPart({ agent, read }: SpecPartProps) {
  const [base, setBase] = useState(agent);
  const [isSaved, setSaved] = useState(false);
  const onSaved = async () => {
    setSaved(true);
    setBase((await read()) ?? base);
    setSaved(false);
  };
  return (
    <>
      {agent.revision > base.revision && !isSaved && (
        <p className="note warn">
          Revision {agent.revision} was saved while you had revision {base.revision} open, which
          cannot be saved any more.{" "}
          <button type="button" className="button" onClick={() => setBase(agent)}>
            Discard what is written here, and show revision {agent.revision}
          </button>
        </p>
      )}
      <AgentEditor
        key={base.revision}
        spec={base.spec ?? create(AgentSpecSchema)}
        revision={base.revision}
        onSaved={() => void onSaved()}
      />
    </>
  );
}
