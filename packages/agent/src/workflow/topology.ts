import type { Workflow, WorkflowEdge, WorkflowNode } from "@reeve/contracts/extensions/workflow";

/** The graph of a workflow, for lookups. */
export interface Topology {
  /** The nodes by id. The first of several with one id. */
  readonly nodes: ReadonlyMap<string, WorkflowNode>;
  /** The ids so that each node comes after the sources of its edges; otherwise in the order of the workflow. Lacks nodes of cycles. */
  readonly order: readonly string[];
  /** The ids of nodes on cycles, or after one. Empty in a valid workflow. */
  readonly cyclic: readonly string[];
  /** The edges to a node, in the order of the workflow. */
  edgesTo(id: string): readonly WorkflowEdge[];
  /** The edges from a node, in the order of the workflow. */
  edgesFrom(id: string): readonly WorkflowEdge[];
}

/** Returns the graph of a workflow. Takes time in proportion to its size. Ignores edges of nodes that do not exist. */
export function topology({ nodes: list, edges }: Pick<Workflow, "nodes" | "edges">): Topology {
  const nodes = new Map<string, WorkflowNode>();
  for (const node of list) if (!nodes.has(node.id)) nodes.set(node.id, node);
  const known = edges.filter(({ source, target }) => nodes.has(source) && nodes.has(target));
  const to = Map.groupBy(known, ({ target }) => target);
  const from = Map.groupBy(known, ({ source }) => source);
  const { order, cyclic } = sorted([...nodes.keys()], to, from);
  return {
    nodes,
    order,
    cyclic,
    edgesTo: (id) => to.get(id) ?? [],
    edgesFrom: (id) => from.get(id) ?? [],
  };
}

type EdgesById = ReadonlyMap<string, readonly WorkflowEdge[]>;

function sorted(ids: readonly string[], to: EdgesById, from: EdgesById) {
  const open = new Map(ids.map((id) => [id, to.get(id)?.length ?? 0]));
  const order = ids.filter((id) => open.get(id) === 0);
  // Also visits the ids that the loop adds.
  for (const id of order) {
    for (const { target } of from.get(id) ?? []) {
      const left = (open.get(target) ?? 0) - 1;
      open.set(target, left);
      if (left === 0) order.push(target);
    }
  }
  const done = new Set(order);
  return { order, cyclic: ids.filter((id) => !done.has(id)) };
}
