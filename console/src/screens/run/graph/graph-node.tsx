import type { NodeType } from "@reeve/agent/workflow/node-type";
import { Link } from "@tanstack/react-router";
import type { WorkflowNode } from "@reeve/contracts/extensions/workflow";
import type { Frame, RunModel } from "../../../run/run-model.ts";
import type { NodeState } from "../../../run/workflow/node-states.ts";
import { Badge } from "../../../ui/badge.tsx";
import { JsonView } from "../../../ui/content/json-view.tsx";
import { LongList } from "../../../ui/content/long-list.tsx";
import { CallCard } from "../conversation/call-card.tsx";
import { FrameItems } from "../conversation/frame-items.tsx";

interface GraphNodeProps {
  readonly node: WorkflowNode;
  /** Undefined: the node cannot run. */
  readonly state: NodeState | undefined;
  readonly type: NodeType | undefined;
  readonly run: RunModel;
}

/** A node of a run: how it is doing, its calls, and its settings. */
export function GraphNode({ node, state, type, run }: GraphNodeProps) {
  const calls = state?.calls ?? [];
  const [first] = calls;
  return (
    <>
      <h2>{node.name || node.id}</h2>
      <p className="sub">
        <span className="mono">{node.id}</span>
        <span>{type?.title ?? node.type}</span>
      </p>
      {state !== undefined && (
        <p>
          <Badge name={state.name} tone={state.tone} />{" "}
          <span className="muted">{state.detail}</span>
        </p>
      )}
      {first !== undefined && (
        <p>
          <Link
            to="/runs/$runId/{-$view}"
            params={{ runId: run.runId, view: "events" }}
            search={{ at: first.sequence }}
          >
            Its events, from {first.sequence} on
          </Link>
        </p>
      )}
      {calls.length === 0 && <p className="muted">It has made no call.</p>}
      <LongList
        className="items"
        items={calls}
        keyOf={({ key }) => key}
        estimatePx={64}
        render={(call) => (
          <CallCard call={call} run={run} version={call.version} view={viewFrame} />
        )}
      />
      {node.properties !== undefined && (
        <>
          <h3>Settings</h3>
          <JsonView value={node.properties} label="Settings of the node" />
        </>
      )}
    </>
  );
}

function viewFrame(frame: Frame, run: RunModel) {
  return <FrameItems frame={frame} run={run} version={frame.version} />;
}
