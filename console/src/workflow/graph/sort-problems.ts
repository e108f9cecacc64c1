/** Something that is wrong with a spec. */
export interface FieldProblem {
  /** Path of the field, such as `workflow.nodes[1].properties.code`. */
  readonly field: string;
  readonly message: string;
}

/** Problems, each at the part of the graph that has it. */
export interface SortedProblems {
  /** By the index of the node. */
  readonly nodes: ReadonlyMap<number, readonly FieldProblem[]>;
  /** By the index of the edge. */
  readonly edges: ReadonlyMap<number, readonly FieldProblem[]>;
  /** Of the rest of the spec. */
  readonly others: readonly FieldProblem[];
}

/** Sorts the problems of a spec by node and edge. The fields of those of nodes and edges are below the node or edge. */
export function sortProblems(problems: readonly FieldProblem[]): SortedProblems {
  const nodes = new Map<number, FieldProblem[]>();
  const edges = new Map<number, FieldProblem[]>();
  const others: FieldProblem[] = [];
  for (const { field, message } of problems) {
    const [, list, index, rest = ""] =
      /^workflow\.(nodes|edges)\[(\d+)\]\.?(.*)$/.exec(field) ?? [];
    if (list === undefined) others.push({ field, message });
    else {
      const byIndex = list === "nodes" ? nodes : edges;
      const at = Number(index);
      byIndex.set(at, [...(byIndex.get(at) ?? []), { field: rest, message }]);
    }
  }
  return { nodes, edges, others };
}
