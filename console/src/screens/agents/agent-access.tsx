import { useQuery } from "@connectrpc/connect-query";
import { AgentService } from "@reeve/contracts/agent";
import { problemOf } from "../../api/problem.ts";
import { Badge } from "../../ui/badge.tsx";
import { Empty } from "../../ui/empty.tsx";
import { ProblemView } from "../../ui/problem-view.tsx";

/** Each tool, model, host, image, and pool: whether the agent may use it, and what withholds it. */
export function AgentAccess({ agentId }: { readonly agentId: string }) {
  const { data, error, isPending } = useQuery(AgentService.method.explainAgent, { agentId });
  if (error !== null) return <ProblemView problem={problemOf(error)} />;
  if (isPending) {
    return (
      <p className="loading" role="status">
        Loading …
      </p>
    );
  }
  if (data.entries.length === 0) {
    return <Empty title="Nothing is offered">The deployment announces no tools or models.</Empty>;
  }
  return (
    <>
      <p className="muted section">
        {data.hasPolicy
          ? `Rules of the operator's policy that apply: ${data.rules.join(", ") || "none"}.`
          : "The deployment has no operator's policy."}
      </p>
      <div className="table-box">
        <table className="table">
          <thead>
            <tr>
              <th scope="col">Kind</th>
              <th scope="col">Name</th>
              <th scope="col">Use</th>
              <th scope="col">Why not</th>
            </tr>
          </thead>
          <tbody>
            {data.entries.map(({ kind, name, allowed, rule, reason }) => (
              <tr key={`${kind} ${name}`}>
                <td className="muted">{kind.replace("_", " ")}</td>
                <td className="mono">{name}</td>
                <td>
                  <Badge name={allowed ? "allowed" : "withheld"} tone={allowed ? "ok" : "idle"} />
                </td>
                <td className="wrap">
                  {reason}
                  {rule !== "" && <span className="muted"> (rule {rule})</span>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
