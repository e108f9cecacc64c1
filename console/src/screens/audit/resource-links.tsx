import { Link } from "@tanstack/react-router";
import type { AuditResource } from "@reeve/contracts/audit";
import type { ReactNode } from "react";

/** How many resources a row names. */
const maxShown = 2;

/** What events were about, each with a link to its screen if it has one. */
export function ResourceLinks({ resources }: { readonly resources: readonly AuditResource[] }) {
  const different = [
    ...new Map(resources.map((each) => [`${each.kind} ${each.id}`, each])).values(),
  ];
  const more = different.length - maxShown;
  return (
    <>
      {different.slice(0, maxShown).map(({ kind, id }, index) => (
        <span key={`${kind} ${id}`}>
          {index > 0 && ", "}
          {kind} <span className="mono">{linkOf(kind, id)}</span>
        </span>
      ))}
      {more > 0 && <span className="muted"> and {more} more</span>}
    </>
  );
}

function linkOf(kind: string, id: string): ReactNode {
  switch (kind) {
    case "run":
      return (
        <Link to="/runs/$runId/{-$view}" params={{ runId: id }}>
          {id}
        </Link>
      );
    case "approval":
      return (
        <Link to="/inbox/{-$approvalId}" params={{ approvalId: id }}>
          {id}
        </Link>
      );
    case "agent":
      return (
        <Link to="/agents/{-$agentId}" params={{ agentId: id }}>
          {id}
        </Link>
      );
    case "thread":
      return (
        <Link to="/chat/{-$threadId}" params={{ threadId: id }}>
          {id}
        </Link>
      );
    default:
      return id;
  }
}
