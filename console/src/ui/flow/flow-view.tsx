import { Background, Controls, ReactFlow, ReactFlowProvider } from "@xyflow/react";
import type { Workflow } from "@reeve/contracts/extensions/workflow";
import { useEffect, useMemo, useState } from "react";
import { placesOf } from "../../workflow/graph/layout.ts";
import { portsOf } from "../../workflow/graph/node-ports.ts";
import type { TypeOf } from "../../workflow/node-types.ts";
import type { CardNode, ShownState } from "./flow-parts.ts";
import { flowParts } from "./flow-parts.ts";
import { flowLabels, nodeTypes } from "./flow-settings.ts";
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
  const [nodes, setNodes] = useState<readonly CardNode[]>(parts.nodes);
  useEffect(() => {
    // What the canvas has measured stays.
    setNodes((before) => {
      const known = new Map(before.map((node) => [node.id, node]));
      return parts.nodes.map((node) => {
        const measured = known.get(node.id)?.measured;
        return { ...node, ...(measured && { measured }), selected: node.id === chosen };
      });
    });
  }, [parts.nodes, chosen]);
  return (
    <div className="flow" role="group" aria-label={label}>
      <ReactFlowProvider>
        <ReactFlow
          nodes={[...nodes]}
          edges={[...parts.edges]}
          nodeTypes={nodeTypes}
          ariaLabelConfig={flowLabels}
          onNodesChange={(changes) => {
            setNodes((before) =>
              before.map((node) => {
                const change = changes.find(
                  (each) => each.type === "dimensions" && each.id === node.id,
                );
                return change?.type === "dimensions" && change.dimensions !== undefined
                  ? { ...node, measured: change.dimensions }
                  : node;
              }),
            );
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
          minZoom={0.1}
          maxZoom={1.5}
          proOptions={{ hideAttribution: true }}
        >
          <Background />
          <Controls showInteractive={false} />
        </ReactFlow>
      </ReactFlowProvider>
    </div>
  );
}
