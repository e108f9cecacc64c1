import { Graph, layout } from "@dagrejs/dagre";
import type { Workflow } from "@reeve/contracts/extensions/workflow";
import type { NodePorts } from "./node-ports.ts";
import { heightOf, nodeWidth } from "./node-size.ts";

/** The upper left corner of a node. */
export interface Place {
  readonly x: number;
  readonly y: number;
}

/** Places the nodes in layers from left to right, so that edges lead to the right. The same graph has the same places. */
export function placesOf(
  { nodes, edges }: Pick<Workflow, "nodes" | "edges">,
  ports: ReadonlyMap<string, NodePorts>,
): ReadonlyMap<string, Place> {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: "LR", nodesep: 24, ranksep: 56 });
  graph.setDefaultEdgeLabel(() => ({}));
  const ids = new Set<string>();
  for (const { id } of nodes) {
    ids.add(id);
    const own = ports.get(id);
    const height = own === undefined ? 0 : heightOf(own);
    graph.setNode(id, { width: nodeWidth, height });
  }
  edges.forEach(({ source, target }, index) => {
    if (ids.has(source) && ids.has(target) && source !== target) {
      graph.setEdge(source, target, {}, String(index));
    }
  });
  layout(graph);
  return new Map(
    [...ids].map((id) => {
      const { x, y, width, height } = graph.node(id);
      return [id, { x: x - width / 2, y: y - height / 2 }];
    }),
  );
}
