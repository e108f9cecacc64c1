import type { Toolhost, Worker } from "@reeve/contracts/operations";
import { formatCount } from "../../format/amounts.ts";
import { msOf } from "../../format/time.ts";
import { Badge } from "../../ui/badge.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Ago } from "../../ui/times.tsx";
import { PlainTable } from "./plain-table.tsx";
import { RunIdLinks } from "./run-links.tsx";

interface HostsProps {
  readonly workers: readonly Worker[];
  readonly toolhosts: readonly Toolhost[];
}

/** The processes that drive runs, and those that execute calls of tools. */
export function Hosts({ workers, toolhosts }: HostsProps) {
  return (
    <div className="stack">
      {workers.length === 0 ? (
        <Empty title="No worker has reported itself">
          Start a runtime, or check that it can reach NATS. One of an earlier version does not
          report itself.
        </Empty>
      ) : (
        <PlainTable label="Workers" columns={["Worker", "State", "#Runs", "Your runs", "Started"]}>
          {workers.map(({ name, slots, active, draining, since, runIds }) => (
            <tr key={name}>
              <td className="mono">{name}</td>
              <td>
                <HostState draining={draining} isFull={active >= slots} />
              </td>
              <td className="number">
                {formatCount(active)} of {formatCount(slots)}
              </td>
              <td>
                <RunIdLinks runIds={runIds} />
              </td>
              <td>
                <Ago ms={msOf(since)} />
              </td>
            </tr>
          ))}
        </PlainTable>
      )}
      {toolhosts.length > 0 && (
        <PlainTable
          label="Toolhosts"
          columns={[
            "Toolhost",
            "Pool",
            "State",
            "#Calls",
            "Your runs",
            "Isolation",
            "#Workspaces",
            "#Warm",
            "#Spare",
            "Started",
          ]}
        >
          {toolhosts.map((host) => (
            <tr key={host.name}>
              <td className="mono">{host.name}</td>
              <td>{host.pool}</td>
              <td>
                <HostState draining={host.draining} isFull={host.busy >= host.slots} />
              </td>
              <td className="number">
                {formatCount(host.busy)} of {formatCount(host.slots)}
              </td>
              <td>
                <RunIdLinks runIds={host.runIds} />
              </td>
              <td>{host.isolation || "unknown"}</td>
              <td className="number">{formatCount(host.workspaces)}</td>
              <td className="number">{formatCount(host.warmSandboxes)}</td>
              <td className="number">{formatCount(host.spareSandboxes)}</td>
              <td>
                <Ago ms={msOf(host.since)} />
              </td>
            </tr>
          ))}
        </PlainTable>
      )}
    </div>
  );
}

function HostState({ draining, isFull }: { readonly draining: boolean; readonly isFull: boolean }) {
  if (draining) return <Badge name="draining" tone="wait" />;
  return isFull ? <Badge name="full" tone="busy" /> : <Badge name="ready" tone="ok" />;
}
