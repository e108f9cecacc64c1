import type { EdgeChange, FinalConnectionState, NodeChange } from "@xyflow/react";
import { Background, Controls, ReactFlow, ReactFlowProvider, useReactFlow } from "@xyflow/react";
import type { DragEvent } from "react";
import { useCallback, useMemo, useState } from "react";
import type { CardEdge, CardNode } from "../../../ui/flow/flow-parts.ts";
import { KeepInView } from "../../../ui/flow/keep-in-view.tsx";
import { fitViewOptions, flowLabels, nodeTypes } from "../../../ui/flow/flow-settings.ts";
import { useMeasured, withSize } from "../../../ui/flow/use-measured.ts";
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
  /** What is not chosen any more, unless something else is already. */
  readonly onLeave: (left: Chosen) => void;
  readonly onPlace: (places: ReadonlyMap<string, Place>) => void;
  readonly onConnect: (drawn: Drawn) => void;
  /** Why a connection cannot be drawn. Undefined: it can. */
  readonly whyNotConnect: (drawn: Drawn) => string | undefined;
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
  const { whyNotConnect, chosen, isReadOnly, onChoose, onLeave, onPlace, onRemove, onDrop } = props;
  const { screenToFlowPosition } = useReactFlow();
  const [sizes, measure] = useMeasured();
  // Until a person lets go of a node, only the canvas knows where it is.
  const [dragged, setDragged] = useState<ReadonlyMap<string, Place>>(new Map());
  const [refusal, setRefusal] = useState("");
  const chosenNode = chosen?.kind === "node" ? chosen.id : undefined;
  const chosenEdge = chosen?.kind === "edge" ? chosen.index : undefined;
  const nodes = useMemo(
    () =>
      props.nodes.map((node) => ({
        ...withSize(node, sizes),
        position: dragged.get(node.id) ?? node.position,
        selected: node.id === chosenNode,
      })),
    [props.nodes, sizes, dragged, chosenNode],
  );
  // A person who drags a node decides where it is seen.
  const placesKey = useMemo(() => keyOfPlaces(props.nodes), [props.nodes]);
  const edges = useMemo(
    () => props.edges.map((edge) => ({ ...edge, selected: edge.data?.index === chosenEdge })),
    [props.edges, chosenEdge],
  );
  const onNodesChange = useCallback(
    (changes: NodeChange<CardNode>[]) => {
      measure(changes);
      const moved = changes.filter((change) => change.type === "position");
      const placed = (isDragged: boolean) =>
        new Map(
          moved.flatMap(({ id, position, dragging = false }) =>
            position === undefined || dragging !== isDragged ? [] : [[id, position] as const],
          ),
        );
      if (moved.length > 0) {
        setDragged(placed(true));
        if (placed(false).size > 0) onPlace(placed(false));
      }
      for (const change of changes) {
        if (change.type !== "select") continue;
        if (change.selected) return onChoose({ kind: "node", id: change.id });
        onLeave({ kind: "node", id: change.id });
      }
    },
    [measure, onPlace, onChoose, onLeave],
  );
  const onEdgesChange = useCallback(
    (changes: EdgeChange<CardEdge>[]) => {
      for (const change of changes) {
        if (change.type !== "select") continue;
        const index = Number(change.id.slice("edge-".length));
        if (change.selected) return onChoose({ kind: "edge", index });
        onLeave({ kind: "edge", index });
      }
    },
    [onChoose, onLeave],
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
        isValidConnection={(drawn) => whyNotConnect(drawn) === undefined}
        onConnectStart={() => setRefusal("")}
        onConnectEnd={(_, state) => setRefusal(refusalOf(state, whyNotConnect))}
        // A node that is chosen already is not selected again, but its form may not be shown.
        onNodeClick={(_, { id }) => onChoose({ kind: "node", id })}
        onPaneClick={() => onChoose(undefined)}
        nodesDraggable={!isReadOnly}
        nodesConnectable={!isReadOnly}
        deleteKeyCode={isReadOnly ? null : ["Delete", "Backspace"]}
        selectionKeyCode={null}
        multiSelectionKeyCode={null}
        connectionRadius={24}
        fitView
        fitViewOptions={fitViewOptions}
        minZoom={0.1}
        maxZoom={1.5}
        proOptions={{ hideAttribution: true }}
      >
        <Background />
        <Controls showInteractive={false} />
        <KeepInView places={placesKey} />
      </ReactFlow>
      <p role="status" className={refusal === "" ? "" : "note warn flow-refusal"}>
        {refusal}
      </p>
    </div>
  );
}

/** Says why the connection that a person let go of was not drawn. Empty: it was, or it led to no connector. */
function refusalOf(
  { isValid, fromHandle, toHandle }: FinalConnectionState,
  whyNot: CanvasProps["whyNotConnect"],
): string {
  if (isValid !== false || fromHandle === null || toHandle === null) return "";
  if (fromHandle.type === toHandle.type) return "An edge leads from an output to an input.";
  const [source, target] =
    fromHandle.type === "source" ? [fromHandle, toHandle] : [toHandle, fromHandle];
  const drawn = {
    source: source.nodeId,
    sourceHandle: source.id ?? null,
    target: target.nodeId,
    targetHandle: target.id ?? null,
  };
  return whyNot(drawn) ?? "";
}

function keyOfPlaces(nodes: readonly CardNode[]): string {
  return nodes.map(({ id, position: { x, y } }) => `${id} ${x} ${y}`).join("\n");
}
