import { useQuery } from "@connectrpc/connect-query";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import { PermissionClassSchema, ToolService } from "@reeve/contracts/tool";
import { problemOf } from "../../api/problem.ts";
import { plural } from "../../format/amounts.ts";
import { Disclosure } from "../../ui/disclosure.tsx";
import { Empty } from "../../ui/empty.tsx";
import { ProblemView } from "../../ui/problem-view.tsx";

/** The tools that the toolhosts of each pool have announced. */
export function ToolPools() {
  const { data, error, refetch } = useQuery(ToolService.method.listTools, {});
  if (error !== null) {
    return <ProblemView problem={problemOf(error)} onRetry={() => void refetch()} />;
  }
  if (data === undefined) {
    return (
      <p className="loading" role="status">
        Loading tools …
      </p>
    );
  }
  if (data.tools.length === 0) {
    return (
      <Empty title="No tool is offered">Start a toolhost, or check that it can reach NATS.</Empty>
    );
  }
  const pools = Map.groupBy(data.tools, ({ pool }) => pool || "runtime");
  return (
    <div className="pools">
      {[...pools].map(([pool, tools]) => (
        <div key={pool} className="card">
          <Disclosure
            summary={
              <span>
                <strong>{pool}</strong>{" "}
                <span className="muted">{plural(tools.length, "tool")}</span>
              </span>
            }
          >
            <Tools tools={tools} />
          </Disclosure>
        </div>
      ))}
    </div>
  );
}

function Tools({ tools }: { readonly tools: readonly ToolDescriptor[] }) {
  return (
    <table className="table">
      <thead>
        <tr>
          <th scope="col">Tool</th>
          <th scope="col">Source</th>
          <th scope="col">Permission class</th>
          <th scope="col">What it does</th>
        </tr>
      </thead>
      <tbody>
        {tools.map(({ name, source, permissionClass, description }) => (
          <tr key={name}>
            <td className="mono">{name}</td>
            <td className="mono">{source}</td>
            <td>
              {PermissionClassSchema.value[permissionClass]?.localName.toLowerCase() ?? "unknown"}
            </td>
            <td className="wrap">{description}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
