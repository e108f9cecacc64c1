import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

/** Where a workflow is: below the list of workflows. */
export function WorkflowCrumbs({ children }: { readonly children: ReactNode }) {
  return (
    <div className="crumbs">
      <Link to="/workflows/{-$agentId}" params={{ agentId: undefined }} search={{}}>
        Workflows
      </Link>
      <span aria-hidden="true">/</span>
      {children}
    </div>
  );
}
