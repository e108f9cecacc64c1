import type { JsonObject } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { Workflow, WorkflowEdge, WorkflowNode } from "@reeve/contracts/extensions/workflow";
import {
  WorkflowEdgeSchema,
  WorkflowNodeSchema,
  WorkflowSchema,
} from "@reeve/contracts/extensions/workflow";

/** The ends of an edge. */
export type EdgeEnds = Pick<WorkflowEdge, "source" | "sourceHandle" | "target" | "targetHandle">;

/** What a person can change of a node. */
export interface NodeChange {
  readonly id?: string;
  readonly name?: string;
  readonly properties?: JsonObject;
}

/** The graph that a new workflow begins with: its answer is its input. */
export function newGraph(): Workflow {
  return create(WorkflowSchema, {
    nodes: [
      { id: "input", type: "input" },
      { id: "answer", type: "output" },
    ],
    edges: [{ source: "input", target: "answer" }],
  });
}

/** Adds a node with an id of its own. Returns the graph and the id. */
export function addNode(graph: Workflow, type: string): readonly [Workflow, string] {
  const ids = new Set(graph.nodes.map(({ id }) => id));
  const [, name = type] = /[:](.*)$/.exec(type) ?? [];
  const base = name.replace(/[^A-Za-z0-9_-]+/g, "-").replace(/^[^A-Za-z0-9]+/, "") || "node";
  const short = base.slice(0, maxBaseLength);
  let id = short;
  for (let number = 2; ids.has(id); number++) id = `${short}-${number}`;
  const node = create(WorkflowNodeSchema, { id, type });
  return [withParts(graph, [...graph.nodes, node], graph.edges), id];
}

const maxBaseLength = 56;

/** Removes nodes with their edges, and edges by their indexes. */
export function removeParts(
  graph: Workflow,
  ids: ReadonlySet<string>,
  indexes: ReadonlySet<number>,
): Workflow {
  return withParts(
    graph,
    graph.nodes.filter(({ id }) => !ids.has(id)),
    graph.edges.filter(
      ({ source, target }, index) => !indexes.has(index) && !ids.has(source) && !ids.has(target),
    ),
  );
}

/** Changes a node. With another id, its edges follow it. */
export function changeNode(graph: Workflow, id: string, change: NodeChange): Workflow {
  const nodes = graph.nodes.map((node) =>
    node.id === id ? create(WorkflowNodeSchema, { ...node, ...change }) : node,
  );
  const { id: next = id } = change;
  if (next === id) return withParts(graph, nodes, graph.edges);
  const moved = (end: string) => (end === id ? next : end);
  const edges = graph.edges.map((edge) =>
    create(WorkflowEdgeSchema, {
      ...edge,
      source: moved(edge.source),
      target: moved(edge.target),
    }),
  );
  return withParts(graph, nodes, edges);
}

/** Returns the properties with another value of one; undefined removes it. */
export function changeProperty(
  { properties = {} }: Pick<WorkflowNode, "properties">,
  name: string,
  value: JsonObject[string] | undefined,
): JsonObject {
  const { [name]: _, ...others } = properties;
  return value === undefined ? others : { ...properties, [name]: value };
}

/** Adds an edge, unless the graph has it. */
export function addEdge(graph: Workflow, ends: EdgeEnds): Workflow {
  const isSame = (edge: WorkflowEdge) =>
    (["source", "sourceHandle", "target", "targetHandle"] as const).every(
      (end) => edge[end] === ends[end],
    );
  if (graph.edges.some(isSame)) return graph;
  return withParts(graph, graph.nodes, [...graph.edges, create(WorkflowEdgeSchema, ends)]);
}

/** Changes the ends of an edge. */
export function changeEdge(graph: Workflow, index: number, ends: Partial<EdgeEnds>): Workflow {
  const edges = graph.edges.map((edge, at) =>
    at === index ? create(WorkflowEdgeSchema, { ...edge, ...ends }) : edge,
  );
  return withParts(graph, graph.nodes, edges);
}

/** Returns the nodes to which a path leads from a node, itself included. */
export function reachedFrom({ edges }: Pick<Workflow, "edges">, from: string): ReadonlySet<string> {
  const bySource = Map.groupBy(edges, ({ source }) => source);
  const reached = new Set([from]);
  // Also visits the ids that the loop adds.
  for (const id of reached) {
    for (const { target } of bySource.get(id) ?? []) reached.add(target);
  }
  return reached;
}

function withParts(
  graph: Workflow,
  nodes: readonly WorkflowNode[],
  edges: readonly WorkflowEdge[],
): Workflow {
  return create(WorkflowSchema, { ...graph, nodes: [...nodes], edges: [...edges] });
}
