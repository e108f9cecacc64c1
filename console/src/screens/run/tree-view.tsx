import { formatDollars, plural } from "../../format/amounts.ts";
import { formatDuration } from "../../format/time.ts";
import { argsLine, resultLine, stateOfCall, stateOfFrame } from "../../run/call-state.ts";
import { failuresInside } from "../../run/findings.ts";
import type { RunModel } from "../../run/run-model.ts";
import type { TreeNode } from "../../run/tree-nodes.ts";
import { treeNodesOf } from "../../run/tree-nodes.ts";
import { Badge } from "../../ui/badge.tsx";
import { Disclosure } from "../../ui/disclosure.tsx";
import { Empty } from "../../ui/empty.tsx";
import { LongList } from "../../ui/content/long-list.tsx";
import { Elapsed } from "../../ui/times.tsx";
import type { RunViewProps } from "./view-props.ts";

/** The calls and subtasks of a run as nested cards: the root is open, what is below it is closed. */
export function TreeView({ snapshot: { run } }: RunViewProps) {
  const nodes = treeNodesOf(run);
  if (nodes.length === 0) {
    return (
      <Empty title="No calls yet">
        This run has called no tool and started no subtask. Its conversation shows its text.
      </Empty>
    );
  }
  return <Nodes nodes={nodes} run={run} />;
}

function Nodes({ nodes, run }: { readonly nodes: readonly TreeNode[]; readonly run: RunModel }) {
  return (
    <LongList
      className="items tree"
      items={nodes}
      keyOf={({ id }) => id}
      estimatePx={110}
      render={(node) => (
        <div className="card" data-node={node.id} data-depth={node.depth}>
          <Disclosure isOpen={node.depth === 0} summary={<NodeHead node={node} run={run} />}>
            <NodeBody node={node} run={run} />
          </Disclosure>
        </div>
      )}
    />
  );
}

interface NodeProps {
  readonly node: TreeNode;
  readonly run: RunModel;
}

function NodeHead({ node: { call, frame, children }, run }: NodeProps) {
  const failed = frame === undefined ? 0 : failuresInside(frame, run);
  const state = call === undefined ? frame && stateOfFrame(frame, run) : stateOfCall(call, run);
  return (
    <span className="card-head">
      <span className={frame?.title ? "card-title" : "card-name mono"}>
        {call?.call.nodeId || frame?.title || call?.call.name || "subtask"}
      </span>
      <span className="card-args muted">
        {children.length > 0
          ? plural(children.length, call?.subtasks.length === children.length ? "subtask" : "call")
          : ""}
      </span>
      {failed > 0 && <span className="bad">{plural(failed, "failure")} inside</span>}
      {frame !== undefined && frame.costUsd > 0 && (
        <span className="muted tabular">{formatDollars(frame.costUsd)}</span>
      )}
      <span className="muted tabular">
        {call?.result === undefined ? (
          <Elapsed
            from={frame?.startedAtMs ?? call?.calledAtMs}
            to={frame?.endedAtMs ?? run.endedAtMs}
          />
        ) : (
          call.result.durationMs > 0 && formatDuration(call.result.durationMs)
        )}
      </span>
      {state !== undefined && <Badge {...state} />}
    </span>
  );
}

function NodeBody({ node: { call, frame, children }, run }: NodeProps) {
  const args = call === undefined ? "" : argsLine(call, 500);
  const result = frame?.resultPreview || (call === undefined ? "" : resultLine(call, 500));
  return (
    <>
      {args !== "" && <p className="preview mono">{args}</p>}
      {result !== "" && <p className="preview mono result">{result}</p>}
      {frame?.state === "failed" && <p className="bad">{frame.message}</p>}
      {children.length > 0 && <Nodes nodes={children} run={run} />}
    </>
  );
}
