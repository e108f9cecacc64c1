import { Background, Controls, ReactFlow, ReactFlowProvider } from "@xyflow/react";
import type { Workflow } from "@reeve/contracts/extensions/workflow";
import { useMemo } from "react";
import { placesOf } from "../../workflow/graph/layout.ts";
import { portsOf } from "../../workflow/graph/node-ports.ts";
import type { TypeOf } from "../../workflow/node-types.ts";
import type { ShownState } from "./flow-parts.ts";
import { flowParts } from "./flow-parts.ts";
import { fitViewOptions, flowLabels, nodeTypes } from "./flow-settings.ts";
import { FitOnResize } from "./fit-on-resize.tsx";
import { useMeasured, withSize } from "./use-measured.ts";
import "@xyflow/react/dist/base.css";
import "../../styles/flow.css";

interface FlowViewProps {
  readonly label: string;
  readonly graph: Workflow;
  readonly typeOf: TypeOf;
  readonly states?: ReadonlyMap<string, ShownState>;
  readonly chosen?: string | undefined;
  readonly onChoose?: (nodeId: string | undefined) => void;
}

/** A graph that is only looked at: the mouse and the keys move the view and choose nodes. */
export function FlowView({ label, graph, typeOf, states, chosen, onChoose }: FlowViewProps) {
  const placed = useMemo(() => {
    const ports = portsOf(graph, typeOf);
    return { ports, places: placesOf(graph, ports) };
  }, [graph, typeOf]);
  const parts = useMemo(
    () => flowParts({ graph, typeOf, ...placed, ...(states && { states }), isReadOnly: true }),
    [graph, typeOf, placed, states],
  );
  const [sizes, measure] = useMeasured();
  const nodes = useMemo(
    () => parts.nodes.map((node) => ({ ...withSize(node, sizes), selected: node.id === chosen })),
    [parts.nodes, sizes, chosen],
  );
  return (
    <div className="flow" role="group" aria-label={label}>
      <ReactFlowProvider>
        <ReactFlow
          nodes={nodes}
          edges={[...parts.edges]}
          nodeTypes={nodeTypes}
          ariaLabelConfig={flowLabels}
          onNodesChange={(changes) => {
            measure(changes);
            for (const change of changes) {
              if (change.type === "select" && change.selected) onChoose?.(change.id);
            }
          }}
          onPaneClick={() => onChoose?.(undefined)}
          nodesDraggable={false}
          nodesConnectable={false}
          edgesFocusable={false}
          deleteKeyCode={null}
          fitView
          fitViewOptions={fitViewOptions}
          minZoom={0.1}
          maxZoom={1.5}
          proOptions={{ hideAttribution: true }}
        >
          <FitOnResize />
          <Background />
          <Controls showInteractive={false} />
        </ReactFlow>
      </ReactFlowProvider>
    </div>
  );
}
