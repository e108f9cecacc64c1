import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

/** Where a trigger is: below the list of triggers. */
export function TriggerCrumbs({ children }: { readonly children: ReactNode }) {
  return (
    <div className="crumbs">
      <Link to="/triggers/{-$triggerId}" params={{ triggerId: undefined }} search={{}}>
        Triggers
      </Link>
      <span aria-hidden="true">/</span>
      {children}
    </div>
  );
}
