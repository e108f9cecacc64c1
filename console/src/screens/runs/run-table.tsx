import { Link } from "@tanstack/react-router";
import type { Run } from "@reeve/contracts/run";
import { memo } from "react";
import { formatDollars } from "../../format/amounts.ts";
import { isTerminal, nameOfStatus } from "../../format/names.ts";
import { msOf } from "../../format/time.ts";
import { Badge } from "../../ui/badge.tsx";
import { Ago, Elapsed } from "../../ui/times.tsx";

export function RunTable({ runs }: { readonly runs: readonly Run[] }) {
  return (
    <div className="table-box">
      <table className="table runs">
        <thead>
          <tr>
            <th scope="col">Status</th>
            <th scope="col">Run</th>
            <th scope="col">Agent</th>
            <th scope="col">Started by</th>
            <th scope="col">Started</th>
            <th scope="col" className="number">
              Duration
            </th>
            <th scope="col" className="number">
              Cost
            </th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <Row key={run.runId} run={run} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

const Row = memo(
  function Row({ run }: { readonly run: Run }) {
    const ended = isTerminal(run.status);
    const startedMs = msOf(run.createdAt);
    return (
      <tr>
        <td>
          <Badge {...nameOfStatus(run.status)} />
        </td>
        <td className="grow">
          <Link to="/runs/$runId/{-$view}" params={{ runId: run.runId }} className="row-link">
            {run.inputPreview || run.runId}
          </Link>
          <span className="sub">
            <span className="mono">{run.runId}</span>
            {run.threadId !== "" && <span>thread {run.threadId}</span>}
            {Object.entries(run.labels).map(([key, value]) => (
              <span key={key} className="label">{`${key}: ${value}`}</span>
            ))}
            {run.scripted && <span className="label">scripted</span>}
            {run.error !== undefined && <span className="bad">{run.error.reason}</span>}
          </span>
        </td>
        <td>{run.agentId}</td>
        <td>{run.startedBy}</td>
        <td>
          <Ago ms={startedMs} />
        </td>
        <td className="number">
          <Elapsed from={startedMs} to={ended ? msOf(run.endedAt) : undefined} />
        </td>
        <td className="number">{run.cost === undefined ? "–" : formatDollars(run.cost.costUsd)}</td>
      </tr>
    );
  },
  // The list is read again every two seconds, and most rows have not changed.
  (before, after) =>
    before.run.runId === after.run.runId && before.run.lastSequence === after.run.lastSequence,
);
