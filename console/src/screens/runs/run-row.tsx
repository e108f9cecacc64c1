import { Link } from "@tanstack/react-router";
import type { Run } from "@reeve/contracts/run";
import { RunWaitKind } from "@reeve/contracts/run";
import { memo } from "react";
import { formatDollars, plural } from "../../format/amounts.ts";
import { isTerminal, nameOfStatus } from "../../format/names.ts";
import { msOf } from "../../format/time.ts";
import { Badge } from "../../ui/badge.tsx";
import { Ago, Elapsed } from "../../ui/times.tsx";

interface RunRowProps {
  readonly run: Run;
  readonly index: number;
  readonly isChosen: boolean;
  readonly onChoose: (runId: string, isChosen: boolean) => void;
  readonly measure: (element: Element | null) => void;
}

/** A run of the list. */
export const RunRow = memo(
  function RunRow({ run, index, isChosen, onChoose, measure }: RunRowProps) {
    const ended = isTerminal(run.status);
    const startedMs = msOf(run.createdAt);
    const failed = run.failedSubtasks ?? 0;
    return (
      <tr ref={measure} data-index={index} aria-rowindex={index + 2}>
        <td className="choose">
          <input
            type="checkbox"
            aria-label={`Choose run ${run.runId}`}
            checked={isChosen}
            onChange={(event) => onChoose(run.runId, event.target.checked)}
          />
        </td>
        <td>
          <Badge {...nameOfStatus(run.status)} />
        </td>
        <td className="grow">
          <Link to="/runs/$runId/{-$view}" params={{ runId: run.runId }} className="row-link">
            {run.inputPreview || run.runId}
          </Link>
          <span className="sub">
            <span className="narrow-only">{run.agentId}</span>
            {waitOf(run) !== "" && <span className="wait">{waitOf(run)}</span>}
            {failed > 0 && <span className="bad">{plural(failed, "failed subtask")}</span>}
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
        <td className="number">{costOf(run)}</td>
      </tr>
    );
  },
  // The list is read again every two seconds, and most rows have not changed.
  (before, after) =>
    before.run.runId === after.run.runId &&
    before.run.lastSequence === after.run.lastSequence &&
    before.index === after.index &&
    before.isChosen === after.isChosen &&
    before.onChoose === after.onChoose,
);

/** What the run has cost, or costs so far. */
function costOf({ cost, spentUsd, status }: Run): string {
  if (cost !== undefined) return formatDollars(cost.costUsd);
  if (spentUsd === undefined) return "–";
  return isTerminal(status) ? formatDollars(spentUsd) : `${formatDollars(spentUsd)} so far`;
}

/** Whom the run waits for, in words. Empty: nobody. */
function waitOf({ waitingFor }: Run): string {
  const decisions = waitingFor.filter(({ kind }) => kind === RunWaitKind.DECISION).length;
  const calls = waitingFor.filter(({ kind }) => kind === RunWaitKind.CLIENT_CALL);
  const [first] = calls;
  return [
    decisions > 0 && `waits for ${plural(decisions, "decision")}`,
    first !== undefined &&
      `waits for ${first.clientId === "" ? "a client" : `the client ${first.clientId}`}: ${calls.map(({ name }) => name).join(", ")}`,
  ]
    .filter((part) => part !== false)
    .join("; ");
}
