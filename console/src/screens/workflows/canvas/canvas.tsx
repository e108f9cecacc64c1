import type { EdgeChange, NodeChange } from "@xyflow/react";
import {
  Background,
  Controls,
  ReactFlow,
  ReactFlowProvider,
  applyEdgeChanges,
  applyNodeChanges,
  useReactFlow,
} from "@xyflow/react";
import type { DragEvent } from "react";
import { useCallback, useEffect, useState } from "react";
import type { CardEdge, CardNode } from "../../../ui/flow/flow-parts.ts";
import { flowLabels, nodeTypes } from "../../../ui/flow/flow-settings.ts";
import type { Place } from "../../../workflow/graph/layout.ts";
import type { Drawn } from "./connect.ts";
import { dragType } from "./drag-type.ts";
import "@xyflow/react/dist/base.css";
import "../../../styles/flow.css";

/** What is chosen on the canvas. */
export type Chosen =
  | { readonly kind: "node"; readonly id: string }
  | { readonly kind: "edge"; readonly index: number }
  | undefined;

export interface CanvasProps {
  readonly nodes: readonly CardNode[];
  readonly edges: readonly CardEdge[];
  readonly isReadOnly: boolean;
  readonly chosen: Chosen;
  readonly onChoose: (chosen: Chosen) => void;
  readonly onPlace: (places: ReadonlyMap<string, Place>) => void;
  readonly onConnect: (drawn: Drawn) => void;
  readonly mayConnect: (drawn: Drawn) => boolean;
  readonly onRemove: (ids: ReadonlySet<string>, indexes: ReadonlySet<number>) => void;
  readonly onDrop: (type: string, place: Place) => void;
}

/** The graph, which the mouse and the keys change. */
export function Canvas(props: CanvasProps) {
  return (
    <ReactFlowProvider>
      <Flow {...props} />
    </ReactFlowProvider>
  );
}

function Flow(props: CanvasProps) {
  const { chosen, isReadOnly, onChoose, onPlace, onRemove, onDrop } = props;
  const [nodes, setNodes] = useState<CardNode[]>([...props.nodes]);
  const [edges, setEdges] = useState<CardEdge[]>([...props.edges]);
  const { screenToFlowPosition } = useReactFlow();
  useEffect(() => {
    setNodes((before) => {
      // What the canvas has measured stays.
      const known = new Map(before.map((node) => [node.id, node]));
      return props.nodes.map((node) => {
        const measured = known.get(node.id)?.measured;
        const selected = chosen?.kind === "node" && chosen.id === node.id;
        return { ...node, selected, ...(measured && { measured }) };
      });
    });
    setEdges(
      props.edges.map((edge) => ({
        ...edge,
        selected: chosen?.kind === "edge" && chosen.index === edge.data?.index,
      })),
    );
  }, [props.nodes, props.edges, chosen]);
  const onNodesChange = useCallback(
    (changes: NodeChange<CardNode>[]) => {
      // The graph decides what is removed.
      setNodes((before) =>
        applyNodeChanges(
          changes.filter(({ type }) => type !== "remove"),
          before,
        ),
      );
      const moved = changes.flatMap((change) =>
        change.type === "position" && change.dragging !== true && change.position !== undefined
          ? [[change.id, change.position] as const]
          : [],
      );
      if (moved.length > 0) onPlace(new Map(moved));
      for (const change of changes) {
        if (change.type === "select" && change.selected) onChoose({ kind: "node", id: change.id });
      }
    },
    [onChoose, onPlace],
  );
  const onEdgesChange = useCallback(
    (changes: EdgeChange<CardEdge>[]) => {
      setEdges((before) =>
        applyEdgeChanges(
          changes.filter(({ type }) => type !== "remove"),
          before,
        ),
      );
      for (const change of changes) {
        if (change.type !== "select" || !change.selected) continue;
        onChoose({ kind: "edge", index: Number(change.id.slice("edge-".length)) });
      }
    },
    [onChoose],
  );
  const onDelete = useCallback(
    (removed: { readonly nodes: readonly CardNode[]; readonly edges: readonly CardEdge[] }) => {
      const indexes = removed.edges.flatMap(({ data }) => data?.index ?? []);
      onRemove(new Set(removed.nodes.map(({ id }) => id)), new Set(indexes));
    },
    [onRemove],
  );
  const dropped = (event: DragEvent) => {
    const type = event.dataTransfer.getData(dragType);
    if (type === "") return;
    event.preventDefault();
    onDrop(type, screenToFlowPosition({ x: event.clientX, y: event.clientY }));
  };
  return (
    <div
      className="flow"
      role="group"
      aria-label="Canvas"
      onDragOver={(event) => {
        if (event.dataTransfer.types.includes(dragType)) event.preventDefault();
      }}
      onDrop={dropped}
    >
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        ariaLabelConfig={flowLabels}
        onNodesChange={onNodesChange}
        onEdgesChange={onEdgesChange}
        onDelete={onDelete}
        onConnect={props.onConnect}
        isValidConnection={props.mayConnect}
        onPaneClick={() => onChoose(undefined)}
        nodesDraggable={!isReadOnly}
        nodesConnectable={!isReadOnly}
        deleteKeyCode={isReadOnly ? null : ["Delete", "Backspace"]}
        connectionRadius={24}
        fitView
        fitViewOptions={{ maxZoom: 1 }}
        minZoom={0.1}
        maxZoom={1.5}
        proOptions={{ hideAttribution: true }}
      >
        <Background />
        <Controls showInteractive={false} />
      </ReactFlow>
    </div>
  );
}
