import type { Workflow, WorkflowEdge } from "@reeve/contracts/extensions/workflow";
import type { Violation } from "@reeve/platform/failure";
import { isInputName, isOrderOnly, sourceHandleOf, targetHandleOf } from "../handles.ts";
import { nodeTypeOf } from "../node-catalog.ts";
import { constantsOf } from "../node-inputs.ts";
import type { NodeType } from "../node-type.ts";
import { afterHandle, errorHandle } from "../node-type.ts";
import type { Topology } from "../topology.ts";
import { topology } from "../topology.ts";
import { fitProblem, schemaAt } from "./type-fit.ts";
import type { CheckContext } from "./check-context.ts";

/** Returns what is wrong with the edges of a workflow, and with the inputs of its nodes that no edge leads to. */
export function checkEdges(
  workflow: Pick<Workflow, "nodes" | "edges">,
  context: CheckContext,
): readonly Violation[] {
  const { suggest, typesOf } = context;
  const graph = topology(workflow);
  const types = new Map(
    [...graph.nodes].flatMap(([id, node]) => {
      const type = nodeTypeOf(node, context.catalog);
      return type === undefined ? [] : [[id, type] as const];
    }),
  );
  const taken = new Set<string>();
  const ofEdges = workflow.edges.flatMap((edge, index) =>
    edgeViolations(edge, `workflow.edges[${index}]`, { graph, types, taken, suggest, typesOf }),
  );
  return [...ofEdges, ...cycleViolations(workflow), ...missingInputs(workflow, context, taken)];
}

interface EdgeContext extends Pick<CheckContext, "suggest" | "typesOf"> {
  readonly graph: Topology;
  readonly types: ReadonlyMap<string, NodeType>;
  /** The inputs to which an edge leads, as `<node> <handle>`. */
  readonly taken: Set<string>;
}

function edgeViolations(
  edge: WorkflowEdge,
  field: string,
  context: EdgeContext,
): readonly Violation[] {
  const { source, target } = edge;
  const { nodes } = context.graph;
  const unknown = (["source", "target"] as const).flatMap((end): readonly Violation[] => {
    if (nodes.has(edge[end])) return [];
    const description = `there is no node "${edge[end].slice(0, 64)}"${context.suggest(edge[end], nodes.keys())}`;
    return [{ field: `${field}.${end}`, description, reason: "UNKNOWN_NODE" }];
  });
  if (unknown.length > 0) return unknown;
  if (source === target) {
    const description = `leads from node "${source}" to itself; remove it`;
    return [{ field, description, reason: "SELF_LOOP" }];
  }
  return [
    ...sourceViolations(edge, field, context),
    ...targetViolations(edge, field, context),
    ...fitViolations(edge, field, context),
  ];
}

function sourceViolations(
  edge: WorkflowEdge,
  field: string,
  { graph, types }: EdgeContext,
): readonly Violation[] {
  const type = types.get(edge.source);
  // An edge that only orders may come from the node as a whole.
  if (type === undefined || (isOrderOnly(edge) && edge.sourceHandle === "")) return [];
  const path = `${field}.source_handle`;
  const names = type.outputs.map(({ handle }) => handle);
  const handle = sourceHandleOf(edge, type)?.handle;
  if (handle === undefined) {
    const has = names.length === 0 ? "no output" : `the outputs ${names.join(", ")}; name one`;
    const description = `node "${edge.source}" has ${has}`;
    return [{ field: path, description, reason: "UNKNOWN_HANDLE" }];
  }
  if (!names.includes(handle)) {
    const description = `node "${edge.source}" has no output "${handle}"; its outputs are: ${names.join(", ") || "none"}`;
    return [{ field: path, description, reason: "UNKNOWN_HANDLE" }];
  }
  const continues = graph.nodes.get(edge.source)?.properties?.["on_error"] === "continue";
  if (handle !== errorHandle || continues) return [];
  const description = `node "${edge.source}" has this output only with \`on_error: continue\``;
  return [{ field: path, description, reason: "UNKNOWN_HANDLE" }];
}

function targetViolations(
  edge: WorkflowEdge,
  field: string,
  { types, taken }: EdgeContext,
): readonly Violation[] {
  const type = types.get(edge.target);
  if (type === undefined || isOrderOnly(edge)) return [];
  const path = `${field}.target_handle`;
  const handle = targetHandleOf(edge, type);
  const names = type.inputs.map((port) => port.handle);
  const known = [...names, afterHandle].join(", ");
  if (handle === undefined) {
    const description = `node "${edge.target}" has the inputs ${known}; name one`;
    return [{ field: path, description, reason: "UNKNOWN_HANDLE" }];
  }
  const port = type.inputs.find((each) => each.handle === handle);
  if (port === undefined && !type.takesOtherInputs) {
    const description = `node "${edge.target}" has no input "${handle}"; its inputs are: ${known}`;
    return [{ field: path, description, reason: "UNKNOWN_HANDLE" }];
  }
  if (port === undefined && !isInputName(handle)) {
    const description = `"${handle}" is no name of an input: use no dots and no control characters`;
    return [{ field: path, description, reason: "MALFORMED" }];
  }
  const key = `${edge.target} ${handle}`;
  const isTaken = taken.has(key);
  taken.add(key);
  if (!isTaken || port?.multiple === true) return [];
  const description = `another edge leads to the input "${handle}" of node "${edge.target}" too; join them with a merge`;
  return [{ field: path, description, reason: "INPUT_TAKEN" }];
}

function fitViolations(
  edge: WorkflowEdge,
  field: string,
  { types, typesOf }: EdgeContext,
): readonly Violation[] {
  const [from, to] = [types.get(edge.source), types.get(edge.target)];
  if (from === undefined || to === undefined || isOrderOnly(edge)) return [];
  const named = sourceHandleOf(edge, from);
  const output = from.outputs.find(({ handle }) => handle === named?.handle);
  const input = to.inputs.find(({ handle }) => handle === targetHandleOf(edge, to));
  if (named === undefined || output === undefined || input === undefined) return [];
  const problem = fitProblem(schemaAt(output.schema, named.path), input.schema, typesOf);
  if (problem === undefined) return [];
  const description = `what node "${edge.source}" gives does not fit the input "${input.handle}" of node "${edge.target}": ${problem}`;
  return [{ field: `${field}.target_handle`, description, reason: "TYPE_MISMATCH" }];
}

function cycleViolations({
  nodes,
  edges,
}: Pick<Workflow, "nodes" | "edges">): readonly Violation[] {
  // A self-loop has its own violation, and would hide other cycles.
  const others = edges.filter(({ source, target }) => source !== target);
  const cycle = cycleOf(topology({ nodes, edges: others }));
  if (cycle === undefined) return [];
  const [first = "", second = ""] = cycle;
  const index = edges.findIndex(({ source, target }) => source === first && target === second);
  const shown = cycle.length > maxNamed ? [...cycle.slice(0, maxNamed), "…", first] : cycle;
  const description = `the nodes would wait for each other: ${shown.join(" → ")}; remove one of these edges`;
  return [{ field: `workflow.edges[${index}]`, description, reason: "CYCLE" }];
}

/** How many nodes of a cycle a violation names. */
const maxNamed = 20;

/** Returns the nodes of one cycle, the first one also at the end. */
function cycleOf({ cyclic, edgesTo }: Topology): readonly string[] | undefined {
  const left = new Set(cyclic);
  const path: string[] = [];
  const places = new Map<string, number>();
  let [at] = cyclic;
  while (at !== undefined) {
    const start = places.get(at);
    if (start !== undefined) return [...path.slice(start), at].toReversed();
    places.set(at, path.length);
    path.push(at);
    // Each node that is not in the order has a source that is not either.
    at = edgesTo(at).find(({ source }) => left.has(source))?.source;
  }
  return undefined;
}

function missingInputs(
  { nodes }: Pick<Workflow, "nodes">,
  { catalog }: CheckContext,
  taken: ReadonlySet<string>,
): readonly Violation[] {
  return nodes.flatMap((node, index) => {
    const constants = constantsOf(node);
    const inputs = nodeTypeOf(node, catalog)?.inputs ?? [];
    return inputs
      .filter(({ handle, required }) => required && !Object.hasOwn(constants, handle))
      .filter(({ handle }) => !taken.has(`${node.id} ${handle}`))
      .map(({ handle }) => ({
        field: `workflow.nodes[${index}].properties.inputs.${handle}`,
        description: `node "${node.id}" needs the input "${handle}"; connect it with an edge, or set it here`,
        reason: "MISSING_INPUT",
      }));
  });
}
