import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

/** Where an agent is: below the list of agents. */
export function AgentCrumbs({ children }: { readonly children: ReactNode }) {
  return (
    <div className="crumbs">
      <Link to="/agents/{-$agentId}" params={{ agentId: undefined }}>
        Agents
      </Link>
      <span aria-hidden="true">/</span>
      {children}
    </div>
  );
}
