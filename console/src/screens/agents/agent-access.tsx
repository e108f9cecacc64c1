import { useQuery } from "@connectrpc/connect-query";
import type { PlannedTool } from "@reeve/contracts/agent";
import { AgentService } from "@reeve/contracts/agent";
import type { NamedTone } from "../../format/names.ts";
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
  const plannedTool = (kind: string, name: string) =>
    kind === "tool" ? data.plan?.tools.find((tool) => tool.name === name) : undefined;
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
              <th scope="col">Why not, or which calls</th>
            </tr>
          </thead>
          <tbody>
            {data.entries.map(({ kind, name, allowed, rule, reason }) => (
              <tr key={`${kind} ${name}`}>
                <td className="muted">{kind.replace("_", " ")}</td>
                <td className="mono">{name}</td>
                <td>
                  <Badge {...nameOfUse(allowed, plannedTool(kind, name)?.calls)} />
                </td>
                <td className="wrap">
                  {allowed && <CallRules tool={plannedTool(kind, name)} />}
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

/** What becomes of the calls of what the agent may use: the arguments of some decide. */
function nameOfUse(isAllowed: boolean, calls = "allow"): NamedTone {
  if (!isAllowed) return { name: "withheld", tone: "idle" };
  if (calls === "depends") return { name: "partly", tone: "wait" };
  return calls === "ask" ? { name: "asks", tone: "wait" } : { name: "allowed", tone: "ok" };
}

/** The rules that decide on calls, in the order in which they are tried. Nothing if every call is allowed. */
function CallRules({ tool }: { readonly tool: PlannedTool | undefined }) {
  if (tool === undefined || tool.calls === "allow") return null;
  return (
    <ul className="findings">
      {tool.callRules.map((rule) => (
        <li key={rule} className="mono">
          {rule}
        </li>
      ))}
    </ul>
  );
}
