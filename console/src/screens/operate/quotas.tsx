import { useQuery } from "@connectrpc/connect-query";
import type { QuotaLimit } from "@reeve/contracts/operations";
import { OperationsService } from "@reeve/contracts/operations";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { problemOf } from "../../api/problem.ts";
import { formatBytes, formatCount, formatDollars } from "../../format/amounts.ts";
import { ProblemView } from "../../ui/problem-view.tsx";
import { PlainTable } from "./plain-table.tsx";

/** The operator's limits for the reader, and what is used of each. */
export function Quotas() {
  const { data, error, refetch } = useQuery(
    OperationsService.method.listQuotas,
    {},
    { refetchInterval: 10_000 },
  );
  if (error !== null) {
    return <ProblemView problem={problemOf(error)} onRetry={() => void refetch()} />;
  }
  if (data === undefined) return null;
  if (data.limits.length === 0) {
    return <p className="muted">No quota limits you.</p>;
  }
  return (
    <PlainTable label="Quotas" columns={["Quota", "Limit", "Counts", "#Used", "#Max", "Part"]}>
      {data.limits.map((limit) => (
        <tr key={`${limit.quota} ${limit.limit}`}>
          <td>{limit.quota}</td>
          <td>{nameOf(limit)}</td>
          <td>{limit.perSubject ? "you" : "the tenant"}</td>
          <td className="number">
            {limit.used === undefined ? "each gateway counts" : amountOf(limit, limit.used)}
          </td>
          <td className="number">{amountOf(limit, limit.max)}</td>
          <td>
            {limit.used !== undefined && (
              <meter
                aria-label={`Used of ${limit.limit} of ${limit.quota}`}
                min={0}
                max={limit.max || 1}
                value={Math.min(limit.used, limit.max)}
              />
            )}
          </td>
        </tr>
      ))}
    </PlainTable>
  );
}

/** Names a limit, with a link to the runs that it counts. */
function nameOf({ limit }: QuotaLimit): ReactNode {
  const name = limit.replaceAll("_", " ").replace("usd", "in US dollars");
  if (limit === "open_runs") {
    return (
      <Link to="/runs" search={{ status: ["running", "waiting", "queued"] }}>
        {name}
      </Link>
    );
  }
  if (limit === "queued_runs") {
    return (
      <Link to="/runs" search={{ status: ["queued"] }}>
        {name}
      </Link>
    );
  }
  if (limit === "runs_per_day" || limit === "cost_per_day_usd") {
    return (
      <Link to="/runs" search={{ since: "24h" }}>
        {name}
      </Link>
    );
  }
  return name;
}

function amountOf({ limit }: QuotaLimit, amount: number): string {
  if (limit === "cost_per_day_usd") return formatDollars(amount);
  return limit.endsWith("_bytes") ? formatBytes(amount) : formatCount(amount);
}
