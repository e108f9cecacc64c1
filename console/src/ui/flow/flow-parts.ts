import type { Edge, Node } from "@xyflow/react";
import type { Workflow } from "@reeve/contracts/extensions/workflow";
import type { NamedTone } from "../../format/names.ts";
import { drawnEnds } from "../../workflow/graph/node-ports.ts";
import type { NodePorts } from "../../workflow/graph/node-ports.ts";
import type { Place } from "../../workflow/graph/layout.ts";
import { heightOf, nodeWidth } from "../../workflow/graph/node-size.ts";
import type { FieldProblem, SortedProblems } from "../../workflow/graph/sort-problems.ts";
import type { TypeOf } from "../../workflow/node-types.ts";

/** How a node of a run is doing. */
export interface ShownState extends NamedTone {
  /** More about it, such as the counts of a map. */
  readonly detail: string;
}

/** What a node shows. */
interface CardData extends Record<string, unknown> {
  readonly title: string;
  /** Title of its type. */
  readonly kind: string;
  readonly ports: NodePorts;
  readonly problems: readonly FieldProblem[];
  readonly state: ShownState | undefined;
  readonly isReadOnly: boolean;
}

export type CardNode = Node<CardData, "card">;
export type CardEdge = Edge<{ readonly index: number }>;

interface FlowInput {
  readonly graph: Workflow;
  readonly typeOf: TypeOf;
  readonly ports: ReadonlyMap<string, NodePorts>;
  readonly places: ReadonlyMap<string, Place>;
  readonly problems?: SortedProblems;
  readonly states?: ReadonlyMap<string, ShownState>;
  readonly isReadOnly: boolean;
}

const none: SortedProblems = { nodes: new Map(), edges: new Map(), others: [] };

/** Returns the nodes and edges of a graph as the canvas draws them. Of several nodes with one id, the first. */
export function flowParts(input: FlowInput): {
  readonly nodes: readonly CardNode[];
  readonly edges: readonly CardEdge[];
} {
  const { graph, typeOf, ports, places, problems = none, states, isReadOnly } = input;
  const indexes = new Map<string, number>();
  graph.nodes.forEach(({ id }, index) => {
    if (!indexes.has(id)) indexes.set(id, index);
  });
  const nodes = [...indexes].flatMap(([id, index]): readonly CardNode[] => {
    const node = graph.nodes[index];
    const own = ports.get(id);
    if (node === undefined || own === undefined) return [];
    const kind = typeOf(node)?.title ?? node.type;
    const state = states?.get(id);
    const wrong = problems.nodes.get(index) ?? [];
    const title = node.name || id;
    const words = [kind, state?.name, state?.detail, wrong.length > 0 ? "has problems" : ""];
    return [
      {
        id,
        type: "card",
        position: places.get(id) ?? { x: 0, y: 0 },
        width: nodeWidth,
        height: heightOf(own),
        data: { title, kind, ports: own, problems: wrong, state, isReadOnly },
        ariaLabel: [title, ...words.filter((word) => word !== undefined && word !== "")].join(", "),
        draggable: !isReadOnly,
        connectable: !isReadOnly,
        deletable: !isReadOnly,
      },
    ];
  });
  const edges = graph.edges.flatMap((edge, index): readonly CardEdge[] => {
    const [source, target] = [edge.source, edge.target].map((id) => {
      const at = indexes.get(id);
      return at === undefined ? undefined : graph.nodes[at];
    });
    if (source === undefined || target === undefined) return [];
    const ends = drawnEnds(edge, typeOf(source), typeOf(target));
    const [, ...path] = edge.sourceHandle.split(".");
    const isBusy = states?.get(edge.target)?.tone === "busy";
    return [
      {
        id: `edge-${index}`,
        ...ends,
        data: { index },
        ...(path.length > 0 && { label: path.join(".") }),
        ariaLabel: `Edge from ${edge.source} ${ends.sourceHandle} to ${edge.target} ${ends.targetHandle}`,
        className: [
          problems.edges.has(index) ? "wrong" : "",
          ends.targetHandle === "$after" ? "order-only" : "",
        ].join(" "),
        animated: isBusy,
        deletable: !isReadOnly,
        focusable: !isReadOnly,
      },
    ];
  });
  return { nodes, edges };
}
