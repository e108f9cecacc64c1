import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { FiringOutcome, TriggerService } from "@reeve/contracts/trigger";
import { problemOf } from "../../api/problem.ts";
import { plural } from "../../format/amounts.ts";
import { msOf } from "../../format/time.ts";
import { Badge } from "../../ui/badge.tsx";
import { ProblemView } from "../../ui/problem-view.tsx";
import { Ago } from "../../ui/times.tsx";
import { nameOfCause, nameOfOutcome } from "./trigger-names.ts";

/** The last firings of a trigger, each with its run, or with why it has none. */
export function Firings({ triggerId }: { readonly triggerId: string }) {
  const { data, error, refetch } = useQuery(
    TriggerService.method.listFirings,
    { triggerId },
    { refetchInterval: 5_000 },
  );
  if (error !== null) {
    return <ProblemView problem={problemOf(error)} onRetry={() => void refetch()} />;
  }
  const firings = data?.firings ?? [];
  return (
    <section aria-label="Firings">
      <h2 className="section">The last firings</h2>
      {data !== undefined && firings.length === 0 && (
        <p className="muted">The trigger has not fired yet.</p>
      )}
      {firings.length > 0 && (
        <div className="table-box">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Time</th>
                <th scope="col">Cause</th>
                <th scope="col">Outcome</th>
                <th scope="col">Run</th>
                <th scope="col">Why</th>
              </tr>
            </thead>
            <tbody>
              {firings.map(({ firingId, scheduledAt, cause, outcome, runId, problem, missed }) => (
                <tr key={`${firingId} ${outcome}`}>
                  <td>
                    <Ago ms={msOf(scheduledAt)} />
                  </td>
                  <td>{nameOfCause(cause)}</td>
                  <td>
                    <Badge {...nameOfOutcome(outcome)} />
                    {outcome === FiringOutcome.MISSED && (
                      <span className="muted"> {plural(missed, "time")}</span>
                    )}
                  </td>
                  <td className="mono">
                    {runId === "" ? (
                      "–"
                    ) : (
                      <Link to="/runs/$runId/{-$view}" params={{ runId }}>
                        {runId}
                      </Link>
                    )}
                  </td>
                  <td className="wrap">{problem}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
