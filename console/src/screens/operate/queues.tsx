import type { FeedLag, Queue } from "@reeve/contracts/operations";
import { QueueKind } from "@reeve/contracts/operations";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { formatCount } from "../../format/amounts.ts";
import { formatDuration } from "../../format/time.ts";
import { PlainTable } from "./plain-table.tsx";

interface QueuesProps {
  readonly queues: readonly Queue[];
  readonly feeds: readonly FeedLag[];
}

/** What waits for a taker, and how far the readers of all logs are behind. */
export function Queues({ queues, feeds }: QueuesProps) {
  return (
    <div className="stack">
      <PlainTable
        label="Queues"
        columns={["Queue", "#Waiting", "#Taken", "#Redelivered", "Oldest that waits"]}
      >
        {queues.map(({ kind, name, waiting, taken, redelivered, oldestAge }) => (
          <tr key={`${kind} ${name}`}>
            <td>{nameOf(kind, name)}</td>
            <td className="number">{formatCount(Number(waiting))}</td>
            <td className="number">{formatCount(Number(taken))}</td>
            <td className="number">{formatCount(Number(redelivered))}</td>
            <td>
              {oldestAge === undefined ? "–" : formatDuration(Number(oldestAge.seconds) * 1_000)}
            </td>
          </tr>
        ))}
      </PlainTable>
      {feeds.length > 0 && (
        <PlainTable label="Feeds" columns={["Reader of all logs", "#Batches behind"]}>
          {feeds.map(({ name, batchesBehind }) => (
            <tr key={name}>
              <td className="mono">{name}</td>
              <td className="number">{formatCount(Number(batchesBehind))}</td>
            </tr>
          ))}
        </PlainTable>
      )}
    </div>
  );
}

function nameOf(kind: QueueKind, name: string): ReactNode {
  switch (kind) {
    case QueueKind.RUNS:
      return (
        <Link to="/runs" search={{ status: ["queued"] }}>
          runs
        </Link>
      );
    case QueueKind.TOOL_CALLS:
      return (
        <>
          calls of the pool <span className="mono">{name}</span>
        </>
      );
    case QueueKind.NOTIFICATIONS:
      return (
        <>
          notifications for <span className="mono">{name}</span>
        </>
      );
    case QueueKind.UNSPECIFIED:
      return name;
  }
  // A newer gateway has queues of another kind.
  return name;
}
