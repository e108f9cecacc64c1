import type { JsonObject } from "@bufbuild/protobuf";

export interface PlayedNode {
  readonly type: string;
  readonly properties?: JsonObject;
}

/** Returns the graph of nodes by id, and edges such as `a.result -> b.q`. */
export function graph(nodes: Readonly<Record<string, PlayedNode>>, ...edges: readonly string[]) {
  return {
    nodes: Object.entries(nodes).map(([id, node]) => ({ id, ...node })),
    edges: edges.map((edge) => {
      const [from = "", to = ""] = edge.split(" -> ");
      const [source = "", ...sourceHandle] = from.split(".");
      const [target = "", ...targetHandle] = to.split(".");
      return {
        source,
        sourceHandle: sourceHandle.join("."),
        target,
        targetHandle: targetHandle.join("."),
      };
    }),
  };
}
