import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import type { Trigger } from "@reeve/contracts/trigger";
import { TriggerService } from "@reeve/contracts/trigger";
import { Permitted } from "../../access/permitted.tsx";
import { problemOf } from "../../api/problem.ts";
import { msOf } from "../../format/time.ts";
import { Badge } from "../../ui/badge.tsx";
import { Empty } from "../../ui/empty.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { ProblemView } from "../../ui/problem-view.tsx";
import { Ago } from "../../ui/times.tsx";
import { nameOfOutcome, nameOfState, sourceLine } from "./trigger-names.ts";

/** The triggers of the tenant, kept current. */
export function TriggerList() {
  const { data, error, refetch, isPending } = useQuery(
    TriggerService.method.listTriggers,
    { pageSize: 1_000 },
    { refetchInterval: 5_000 },
  );
  return (
    <>
      <PageHead title="Triggers">
        <Permitted method={TriggerService.method.createTrigger} action="Creating a trigger">
          <Link
            to="/triggers/{-$triggerId}"
            params={{ triggerId: undefined }}
            search={{ create: true }}
            className="button primary"
          >
            Create a trigger
          </Link>
        </Permitted>
      </PageHead>
      {error !== null && <ProblemView problem={problemOf(error)} onRetry={() => void refetch()} />}
      {isPending && (
        <p className="loading" role="status">
          Loading triggers …
        </p>
      )}
      {data?.triggers.length === 0 && (
        <Empty title="No trigger yet">
          <p>
            A trigger starts runs of an agent by itself: at the times of a schedule, or when a
            signed webhook arrives. Create one here, or store a file:
          </p>
          <pre className="code">reeve triggers apply -f nightly.yaml</pre>
        </Empty>
      )}
      {data !== undefined && data.triggers.length > 0 && <Table triggers={data.triggers} />}
    </>
  );
}

function Table({ triggers }: { readonly triggers: readonly Trigger[] }) {
  return (
    <div className="table-box">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Trigger</th>
            <th scope="col">State</th>
            <th scope="col">Agent</th>
            <th scope="col">Fires at</th>
            <th scope="col">Next</th>
            <th scope="col">Last</th>
          </tr>
        </thead>
        <tbody>
          {triggers.map(({ spec, state, stopReason, nextFiringAt, lastFiring, owner }) => (
            <tr key={spec?.triggerId}>
              <td>
                <Link
                  to="/triggers/{-$triggerId}"
                  params={{ triggerId: spec?.triggerId ?? "" }}
                  className="row-link mono"
                >
                  {spec?.triggerId}
                </Link>
                <span className="sub">as {owner?.subject}</span>
              </td>
              <td className="wrap">
                <Badge {...nameOfState(state)} />
                {stopReason !== "" && <span className="sub">{stopReason}</span>}
              </td>
              <td className="mono">{spec?.agentId}</td>
              <td className="mono">{spec === undefined ? "" : sourceLine(spec)}</td>
              <td>
                <Ago ms={msOf(nextFiringAt)} />
              </td>
              <td>
                {lastFiring === undefined ? (
                  <span className="muted">never</span>
                ) : (
                  <>
                    <Badge {...nameOfOutcome(lastFiring.outcome)} />{" "}
                    <Ago ms={msOf(lastFiring.scheduledAt)} />
                  </>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
