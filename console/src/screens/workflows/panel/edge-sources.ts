import type { Workflow, WorkflowEdge } from "@reeve/contracts/extensions/workflow";
import { reachedFrom } from "../../../workflow/graph/edit-graph.ts";
import type { NodePorts } from "../../../workflow/graph/node-ports.ts";
import { drawnEnds, wholeHandle } from "../../../workflow/graph/node-ports.ts";
import type { TypeOf } from "../../../workflow/node-types.ts";

/** An output that an edge can come from. */
export interface EdgeSource {
  readonly source: string;
  /** Empty: the node as a whole. */
  readonly sourceHandle: string;
}

/** An edge, with its place in the workflow and the outputs of its source that it comes from. */
export interface PlacedEdge extends EdgeSource {
  readonly index: number;
  /** The part of the value that it passes, such as `items.0`. Empty: the whole value. */
  readonly path: string;
}

/** Returns the outputs that an edge to a node can come from without a cycle; with `whole`, also the nodes themselves. */
export function sourcesFor(
  graph: Workflow,
  target: string,
  ports: ReadonlyMap<string, NodePorts>,
  whole = false,
): readonly EdgeSource[] {
  const after = reachedFrom(graph, target);
  return graph.nodes
    .filter(({ id }) => !after.has(id))
    .flatMap(({ id }) => [
      ...(whole ? [{ source: id, sourceHandle: "" }] : []),
      ...(ports.get(id)?.outputs.map(({ handle }) => ({ source: id, sourceHandle: handle })) ?? []),
    ]);
}

/** Returns the edges that lead to an input of a node. */
export function edgesInto(
  graph: Workflow,
  target: string,
  handle: string,
  typeOf: TypeOf,
): readonly PlacedEdge[] {
  const byId = new Map(graph.nodes.map((node) => [node.id, node]));
  return graph.edges.flatMap((edge: WorkflowEdge, index) => {
    if (edge.target !== target) return [];
    const [from, to] = [byId.get(edge.source), byId.get(target)];
    const drawn = drawnEnds(edge, from && typeOf(from), to && typeOf(to));
    if (drawn.targetHandle !== handle) return [];
    const [, ...path] = edge.sourceHandle.split(".");
    const sourceHandle = drawn.sourceHandle === wholeHandle ? "" : drawn.sourceHandle;
    return [{ index, source: edge.source, sourceHandle, path: path.join(".") }];
  });
}
