import { Link } from "@tanstack/react-router";
import { formatCost, formatCount, formatDollars, plural } from "../../format/amounts.ts";
import { nameOfStatus } from "../../format/names.ts";
import { costParts } from "../../run/cost-parts.ts";
import type { RunModel } from "../../run/run-model.ts";
import type { FeedState } from "../../run/feed/run-feed.ts";
import { Badge } from "../../ui/badge.tsx";
import { useTitle } from "../../ui/page-head.tsx";
import { Ago, Elapsed } from "../../ui/times.tsx";
import { CanvasLink } from "../workflows/canvas-link.tsx";
import { RunActions } from "./run-actions.tsx";
import { RunBudget } from "./run-budget.tsx";
import { RunFindings } from "./run-findings.tsx";
import { RunWaits } from "./run-waits.tsx";
import { RunWithheld } from "./run-withheld.tsx";
import { RunLinks } from "./run-links.tsx";
import type { RunViewProps } from "./view-props.ts";

/** The state of a run on one glance, and what a person can do with it. */
export function RunHead({ snapshot }: RunViewProps) {
  const { run, state } = snapshot;
  const title = run.input.split("\n", 1)[0] ?? "";
  useTitle(title.slice(0, 60) || run.runId);
  return (
    <header className="run-head" data-connection={state}>
      <div className="crumbs">
        <Link to="/runs">Runs</Link>
        <span aria-hidden="true">/</span>
        <span className="mono">{run.runId}</span>
        <RunLinks run={run} />
      </div>
      <div className="run-title">
        <h1>{title || run.runId}</h1>
        <RunActions run={run} />
      </div>
      <dl className="facts">
        <div>
          <dt>Status</dt>
          <dd>
            <Badge {...nameOfStatus(run.status)} />
          </dd>
        </div>
        <div>
          <dt>Agent</dt>
          <dd>
            {run.agentId === "" ? (
              "…"
            ) : (
              <Link to="/agents/{-$agentId}" params={{ agentId: run.agentId }}>
                {run.agentId}
              </Link>
            )}
            {run.agentId !== "" && <CanvasLink agentId={run.agentId} />}
            {run.agentRevision > 0 && <span className="muted"> revision {run.agentRevision}</span>}
          </dd>
        </div>
        {run.threadId !== "" && (
          <div>
            <dt>Thread</dt>
            <dd>
              <Link to="/chat/{-$threadId}" params={{ threadId: run.threadId }}>
                {run.threadId}
              </Link>
            </dd>
          </div>
        )}
        <div>
          <dt>Started</dt>
          <dd>
            <Ago ms={run.startedAtMs} />
            {run.startedBy !== "" && <span className="muted"> by {run.startedBy}</span>}
          </dd>
        </div>
        <div>
          <dt>Duration</dt>
          <dd className="tabular">
            <Elapsed from={run.startedAtMs} to={run.endedAtMs} />
          </dd>
        </div>
        <Cost run={run} />
        {state !== "ended" && (
          <div>
            <dt>Updates</dt>
            <dd>
              <Connection state={state} />
            </dd>
          </div>
        )}
      </dl>
      <RunWaits run={run} />
      <RunFindings run={run} />
      <RunWithheld run={run} />
      <RunBudget run={run} />
    </header>
  );
}

function Cost({ run }: { readonly run: RunModel }) {
  const { cost, usage, prepared } = run;
  const isPriced = usage.costUsd > 0 || cost?.costUsd !== undefined;
  const parts = costParts(run);
  const max = prepared?.limits?.budgets?.maxCostUsd;
  return (
    <div>
      <dt>Cost</dt>
      <dd className="tabular" title={cost === undefined ? undefined : formatCost(cost)}>
        {isPriced ? formatDollars(cost?.costUsd ?? usage.costUsd) : "no price"}
        {isPriced && max !== undefined && <span className="muted"> of {formatDollars(max)}</span>}
        {isPriced && parts.subtasksUsd > 0 && (
          <span className="muted">
            {`: ${formatDollars(parts.ownUsd)} the agent itself, ${formatDollars(parts.subtasksUsd)} its subtasks`}
            {parts.most !== undefined &&
              `; most: ${parts.most.title} ${formatDollars(parts.most.ownUsd)}`}
          </span>
        )}
        <span className="muted">
          {run.lost.calls > 0 && ` · ${lostCost(run)}`}
          {` · ${formatCount(cost?.inputTokens ?? usage.inputTokens)} + ${formatCount(cost?.outputTokens ?? usage.outputTokens)} tokens · ${plural(cost?.llmCalls ?? usage.modelCalls, "model call")}`}
        </span>
      </dd>
    </div>
  );
}

const connections: Readonly<Record<FeedState, { readonly name: string; readonly tone: string }>> = {
  connecting: { name: "connecting", tone: "idle" },
  live: { name: "live", tone: "ok" },
  lost: { name: "reconnecting", tone: "wait" },
  ended: { name: "complete", tone: "idle" },
  refused: { name: "stopped", tone: "bad" },
};

function Connection({ state }: { readonly state: FeedState }) {
  const { name, tone } = connections[state];
  return (
    <span className={`badge plain tone-${tone}`}>
      <span className="mark" aria-hidden="true" />
      {name}
    </span>
  );
}

function lostCost({ lost: { calls, reservedUsd } }: RunModel): string {
  const atMost = reservedUsd > 0 ? `at most ${formatDollars(reservedUsd)}` : "not known";
  return `cost of ${plural(calls, "lost call")}: ${atMost}, not counted`;
}
