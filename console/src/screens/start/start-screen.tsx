import { useQuery } from "@connectrpc/connect-query";
import { getRouteApi } from "@tanstack/react-router";
import { AgentService } from "@reeve/contracts/agent";
import { RunService } from "@reeve/contracts/run";
import { problemOf } from "../../api/problem.ts";
import { Permitted } from "../../access/permitted.tsx";
import { CreateLink } from "../agents/create-link.tsx";
import { Empty } from "../../ui/empty.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { ProblemView } from "../../ui/problem-view.tsx";
import { StartForm } from "./start-form.tsx";
import "../../styles/start.css";

const route = getRouteApi("/start");

/** Where a person starts a run, and, in a new deployment, creates the first agent. */
export function StartScreen() {
  const { agent } = route.useSearch();
  const { data, error, refetch, isPending } = useQuery(AgentService.method.listAgents, {
    pageSize: 1_000,
  });
  return (
    <>
      <PageHead title="Start a run" />
      {error !== null && <ProblemView problem={problemOf(error)} onRetry={() => void refetch()} />}
      {isPending && (
        <p className="loading" role="status">
          Loading agents …
        </p>
      )}
      {data?.agents.length === 0 && (
        <Empty title="First, an agent">
          <p>
            An agent is a model with instructions and the tools that it may use. Create one here, or
            store a file with <code>reeve agents apply -f FILE</code>.
          </p>
          <CreateLink />
        </Empty>
      )}
      {data !== undefined && data.agents.length > 0 && (
        <Permitted method={RunService.method.startRun}>
          <StartForm agents={data.agents} chosen={agent} />
        </Permitted>
      )}
    </>
  );
}
