import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { WorkflowEdge, WorkflowNode } from "@reeve/contracts/extensions/workflow";
import { isOrderOnly, sourceHandleOf, targetHandleOf, valueAt } from "./handles.ts";
import { asInput } from "./json-text.ts";
import type { NodeType } from "./node-type.ts";
import type { Topology } from "./topology.ts";

/** The values of a node's outputs, by handle. A node that was skipped has none. */
export type NodeOutputs = ReadonlyMap<string, JsonValue>;

/** What a node can do now. */
export type NodeInputs =
  /** A source of one of its edges has not ended. */
  | { readonly kind: "waiting" }
  /** A value that it needs comes only from a branch that was not taken. */
  | { readonly kind: "skipped" }
  | { readonly kind: "ready"; readonly inputs: JsonObject }
  /** A part of a value that an edge names does not exist. */
  | { readonly kind: "failed"; readonly problem: string };

/** What is known of the nodes of a workflow. */
export interface KnownNodes {
  typeOf(node: WorkflowNode): NodeType | undefined;
  /** Returns the outputs of a node that ended or was skipped. Undefined: it has not. */
  outputsOf(id: string): NodeOutputs | undefined;
}

/**
 * Returns the inputs of a node: what its edges pass, and for those that no edge provides, the constants in `properties.inputs`. A node is skipped
 * if one of its edges has no value and no constant stands for it; an input with several edges needs one of them.
 */
export function inputsOf(node: WorkflowNode, graph: Topology, known: KnownNodes): NodeInputs {
  const type = known.typeOf(node);
  if (type === undefined) return failed(node, `its type "${node.type}" does not exist`);
  const edges = graph.edgesTo(node.id);
  if (edges.some(({ source }) => known.outputsOf(source) === undefined)) return { kind: "waiting" };
  // Without a prototype: a handle may have the name of a property of all objects.
  const inputs = Object.assign(Object.create(null) as JsonObject, constantsOf(node));
  const collected = new Map<string, Passed[]>();
  for (const edge of edges) {
    const passed = valueOf(edge, graph, known);
    const handle = targetHandleOf(edge, type) ?? "";
    const hasConstant = Object.hasOwn(inputs, handle);
    if (passed.kind === "failed" && !hasConstant) return failed(node, passed.problem);
    const isMultiple = type.inputs.some((each) => each.handle === handle && each.multiple);
    if (passed.kind !== "some") {
      if (hasConstant || isMultiple) continue;
      return { kind: "skipped" };
    }
    const value = asInput(passed.value, type.inputs.find((each) => each.handle === handle)?.schema);
    if (isMultiple) {
      const before = collected.get(handle) ?? [];
      collected.set(handle, [...before, { source: edge.source, value }]);
    } else if (!isOrderOnly(edge)) inputs[handle] = value;
  }
  for (const [handle, values] of collected) inputs[handle] = mergedValue(node, values);
  const isMissing = type.inputs.some(
    ({ handle, required }) => required && !Object.hasOwn(inputs, handle),
  );
  return isMissing ? { kind: "skipped" } : { kind: "ready", inputs };
}

interface Passed {
  readonly source: string;
  readonly value: JsonValue;
}

/** Returns the constants of a node's inputs. */
export function constantsOf({ properties }: Pick<WorkflowNode, "properties">): JsonObject {
  const constants = properties?.["inputs"];
  return typeof constants === "object" && constants !== null && !Array.isArray(constants)
    ? constants
    : {};
}

function mergedValue({ properties }: WorkflowNode, values: readonly Passed[]): JsonValue {
  const mode = properties?.["mode"] ?? "first";
  if (mode === "list") return values.map(({ value }) => value);
  if (mode === "object") return Object.fromEntries(values.map((each) => [each.source, each.value]));
  return values[0]?.value ?? null;
}

type EdgeValue =
  | { readonly kind: "some"; readonly value: JsonValue }
  | { readonly kind: "none" }
  | { readonly kind: "failed"; readonly problem: string };

function valueOf(edge: WorkflowEdge, graph: Topology, known: KnownNodes): EdgeValue {
  const source = graph.nodes.get(edge.source);
  const type = source && known.typeOf(source);
  const outputs = known.outputsOf(edge.source) ?? new Map();
  // Every node that has ended has a value, also an output: only one that was skipped has none.
  if (isOrderOnly(edge) && edge.sourceHandle === "") {
    return outputs.size === 0 ? { kind: "none" } : { kind: "some", value: null };
  }
  const named = type && sourceHandleOf(edge, type);
  if (named === undefined) return { kind: "none" };
  const whole = outputs.get(named.handle);
  if (whole === undefined) return { kind: "none" };
  const value = valueAt(whole, named.path);
  if (value !== undefined) return { kind: "some", value };
  const problem = `the output "${named.handle}" of node "${edge.source}" has no part "${named.path.join(".")}"`;
  return { kind: "failed", problem };
}

function failed({ id }: WorkflowNode, problem: string): NodeInputs {
  return { kind: "failed", problem: `node "${id}" has no input: ${problem}` };
}
