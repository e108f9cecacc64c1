import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { AgentService } from "@reeve/contracts/agent";

/** Leads to the canvas of an agent. Nothing if it has no workflow. */
export function CanvasLink({ agentId }: { readonly agentId: string }) {
  const { data } = useQuery(AgentService.method.getAgent, { agentId }, { enabled: agentId !== "" });
  if (data?.agent?.spec?.workflow === undefined) return null;
  return (
    <>
      {" · "}
      <Link to="/workflows/{-$agentId}" params={{ agentId }}>
        canvas
      </Link>
    </>
  );
}
