import { Link } from "@tanstack/react-router";

/** How many runs are named at once. */
const maxShown = 3;

/** Links to runs of the tenant. A number of runs that belong to other tenants has no links. */
export function RunIdLinks({ runIds }: { readonly runIds: readonly string[] }) {
  if (runIds.length === 0) return <span className="muted">–</span>;
  const more = runIds.length - maxShown;
  return (
    <>
      {runIds.slice(0, maxShown).map((runId, index) => (
        <span key={runId}>
          {index > 0 && ", "}
          <Link to="/runs/$runId/{-$view}" params={{ runId }} className="mono">
            {runId.slice(0, 12)}…
          </Link>
        </span>
      ))}
      {more > 0 && <span className="muted"> and {more} more</span>}
    </>
  );
}
