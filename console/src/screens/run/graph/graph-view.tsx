import { Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { isTerminal } from "../../../format/names.ts";
import { nodeStates } from "../../../run/workflow/node-states.ts";
import { runGraphs } from "../../../run/workflow/run-graphs.ts";
import { FlowView } from "../../../ui/flow/flow-view.tsx";
import { PendingApprovals } from "../../approval/live-approval.tsx";
import type { RunViewProps } from "../view-props.ts";
import { GraphNode } from "./graph-node.tsx";
import "../../../styles/run-graph.css";

/** The graph of a workflow, with how each node is doing. A node shows its calls, and leads to their events. */
export function GraphView({ snapshot: { run } }: RunViewProps) {
  const { version } = run;
  // The fold changes the run in place; its version says that it did.
  // oxlint-disable-next-line react/exhaustive-deps
  const graphs = useMemo(() => runGraphs(run), [run, version]);
  const [frameId, setFrameId] = useState("");
  const [chosen, setChosen] = useState<string | undefined>();
  const shown = graphs.find(({ frame }) => frame.id === frameId) ?? graphs[0];
  const states = useMemo(
    () => (shown === undefined ? undefined : nodeStates(run, shown)),
    // oxlint-disable-next-line react/exhaustive-deps
    [run, shown, version],
  );
  if (shown === undefined || states === undefined) {
    return (
      <p className="loading" role="status">
        Loading the graph …
      </p>
    );
  }
  const node = shown.graph.nodes.find(({ id }) => id === chosen);
  return (
    <div className="run-graph">
      <div className="row">
        {graphs.length > 1 && (
          <div className="chips wrap" role="group" aria-label="Workflows of the run">
            {graphs.map(({ frame, agentId }) => (
              <button
                key={frame.id}
                type="button"
                className="chip small"
                aria-pressed={frame === shown.frame}
                onClick={() => {
                  setFrameId(frame.id);
                  setChosen(undefined);
                }}
              >
                {agentId}
              </button>
            ))}
          </div>
        )}
        <Link to="/workflows/{-$agentId}" params={{ agentId: shown.agentId }}>
          Open {shown.agentId} in the editor
        </Link>
      </div>
      <div className="graph-and-node" data-chosen={node !== undefined}>
        <FlowView
          key={shown.frame.id}
          label="Graph of the run"
          graph={shown.graph}
          typeOf={shown.typeOf}
          states={states}
          chosen={chosen}
          onChoose={setChosen}
        />
        {node !== undefined && (
          <section className="side-panel" aria-label="Node">
            <GraphNode
              key={node.id}
              node={node}
              state={states.get(node.id)}
              type={shown.typeOf(node)}
              run={run}
            />
          </section>
        )}
      </div>
      {node === undefined && <p className="muted">Choose a node to see its calls.</p>}
      {!isTerminal(run.status) && <PendingApprovals run={run} />}
    </div>
  );
}
