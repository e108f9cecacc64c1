import { useQuery } from "@connectrpc/connect-query";
import type { AccessExplanation, PlannedTool } from "@reeve/contracts/agent";
import { AgentService } from "@reeve/contracts/agent";
import type { NamedTone } from "../../format/names.ts";
import { problemOf } from "../../api/problem.ts";
import { plural } from "../../format/amounts.ts";
import { filterFields } from "../../run/withheld.ts";
import { Badge } from "../../ui/badge.tsx";
import { Disclosure } from "../../ui/disclosure.tsx";
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
  const plannedTool = ({ kind, name }: AccessExplanation) =>
    kind === "tool" ? data.plan?.tools.find((tool) => tool.name === name) : undefined;
  const filtered = new Set(
    data.plan?.excludedTools
      .filter(({ excludedBy }) => filterFields.test(excludedBy))
      .map(({ name }) => name),
  );
  const isUnnamed = ({ kind, name }: AccessExplanation) => kind === "tool" && filtered.has(name);
  const shown = data.entries.filter((entry) => !isUnnamed(entry));
  const rest = data.entries.filter(isUnnamed);
  // First what rules of the policy withhold, then what rules decide on, and last what is simply allowed.
  const rankOf = (entry: AccessExplanation) => {
    if (!entry.allowed) return entry.rule === "" ? 2 : 0;
    return (plannedTool(entry)?.calls ?? "allow") === "allow" ? 3 : 1;
  };
  return (
    <>
      <p className="muted section">
        {data.hasPolicy
          ? `Rules of the operator's policy that apply: ${data.rules.join(", ") || "none"}.`
          : "The deployment has no operator's policy."}
      </p>
      <AccessTable
        entries={shown.toSorted((one, other) => rankOf(one) - rankOf(other))}
        plannedTool={plannedTool}
      />
      {rest.length > 0 && (
        <Disclosure
          summary={
            <span className="muted">
              {plural(rest.length, "item")} that the agent does not name
            </span>
          }
        >
          <AccessTable entries={rest} plannedTool={plannedTool} />
        </Disclosure>
      )}
    </>
  );
}

interface AccessTableProps {
  readonly entries: readonly AccessExplanation[];
  readonly plannedTool: (entry: AccessExplanation) => PlannedTool | undefined;
}

function AccessTable({ entries, plannedTool }: AccessTableProps) {
  return (
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
          {entries.map((entry) => {
            const { kind, name, allowed, rule, reason } = entry;
            const tool = plannedTool(entry);
            return (
              <tr key={`${kind} ${name}`}>
                <td className="muted">{kind.replace("_", " ")}</td>
                <td className="mono">{name}</td>
                <td>
                  <Badge {...nameOfUse(allowed, tool?.calls)} />
                </td>
                <td className="wrap">
                  {allowed && <CallRules tool={tool} />}
                  {reason}
                  {rule !== "" && <span className="muted"> (rule {rule})</span>}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
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
