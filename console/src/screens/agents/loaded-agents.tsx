import { useQuery } from "@connectrpc/connect-query";
import type { Agent } from "@reeve/contracts/agent";
import { AgentService } from "@reeve/contracts/agent";
import type { ReactNode } from "react";
import { problemOf } from "../../api/problem.ts";
import { ProblemView } from "../../ui/problem-view.tsx";

interface LoadedAgentsProps {
  /** What is shown if there is no agent. */
  readonly empty: ReactNode;
  readonly children: (agents: readonly Agent[]) => ReactNode;
}

/** Shows the agents of the tenant when they are read, or why they are not. */
export function LoadedAgents({ empty, children }: LoadedAgentsProps) {
  const { data, error, refetch, isPending } = useQuery(AgentService.method.listAgents, {
    pageSize: 1_000,
  });
  return (
    <>
      {error !== null && <ProblemView problem={problemOf(error)} onRetry={() => void refetch()} />}
      {isPending && (
        <p className="loading" role="status">
          Loading agents …
        </p>
      )}
      {data !== undefined && (data.agents.length === 0 ? empty : children(data.agents))}
    </>
  );
}
