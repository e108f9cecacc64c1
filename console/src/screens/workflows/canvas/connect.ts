import { afterHandle } from "@reeve/agent/workflow/node-type";
import type { Workflow } from "@reeve/contracts/extensions/workflow";
import type { EdgeEnds } from "../../../workflow/graph/edit-graph.ts";
import { reachedFrom } from "../../../workflow/graph/edit-graph.ts";
import type { NodePorts } from "../../../workflow/graph/node-ports.ts";
import { drawnEnds, otherHandle, wholeHandle } from "../../../workflow/graph/node-ports.ts";
import type { TypeOf } from "../../../workflow/node-types.ts";

/** A connection of two connectors, as a person draws it. */
export interface Drawn {
  readonly source: string;
  readonly sourceHandle?: string | null | undefined;
  readonly target: string;
  readonly targetHandle?: string | null | undefined;
}

/** Returns the edge that a drawn connection means. */
export function edgeOf(drawn: Drawn, ports: ReadonlyMap<string, NodePorts>): EdgeEnds {
  const { source, target } = drawn;
  const from = drawn.sourceHandle ?? "";
  const to = drawn.targetHandle ?? "";
  // From a node as a whole, an edge can only make another one wait.
  if (from === wholeHandle || to === afterHandle) {
    const isWhole = from === wholeHandle;
    return { source, sourceHandle: isWhole ? "" : from, target, targetHandle: afterHandle };
  }
  const targetHandle = to === otherHandle ? newInputName(source, ports.get(target)) : to;
  return { source, sourceHandle: from, target, targetHandle };
}

/** Names a new input after the node that it has its value from. */
function newInputName(source: string, ports: NodePorts | undefined): string {
  const taken = new Set(ports?.inputs.map(({ handle }) => handle));
  const base = source.replace(/[^A-Za-z0-9_]/g, "_");
  let name = base;
  for (let number = 2; taken.has(name); number++) name = `${base}_${number}`;
  return name;
}

/**
 * Returns why an edge cannot be drawn: it makes a cycle, or its input takes one edge and has it. Undefined: it can be drawn.
 */
export function whyNotConnect(graph: Workflow, ends: EdgeEnds, typeOf: TypeOf): string | undefined {
  if (reachedFrom(graph, ends.target).has(ends.source)) {
    return `An edge from ${ends.source} to ${ends.target} would make a cycle.`;
  }
  if (ends.targetHandle === afterHandle) return undefined;
  const byId = new Map(graph.nodes.map((node) => [node.id, node]));
  const target = byId.get(ends.target);
  const type = target && typeOf(target);
  const port = type?.inputs.find(({ handle }) => handle === ends.targetHandle);
  if (port?.multiple === true) return undefined;
  const isTaken = graph.edges.some((edge) => {
    if (edge.target !== ends.target) return false;
    const source = byId.get(edge.source);
    const drawn = drawnEnds(edge, source && typeOf(source), type);
    return drawn.targetHandle === ends.targetHandle;
  });
  if (!isTaken) return undefined;
  return `${ends.target}.${ends.targetHandle} has an edge already. Remove it first.`;
}
