import type { JsonObject } from "@bufbuild/protobuf";
import type { WorkflowNode } from "@reeve/contracts/extensions/workflow";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import {
  isMediaKind,
  mediaField,
  mediaKindOf,
  mediaKinds,
  mediaToolName,
} from "../media/media-kinds.ts";
import { isSchema } from "../schema/local-reference.ts";
import { builtinNodeTypes } from "./builtin-node-types.ts";
import { mainInput } from "./handles.ts";
import type { NodeTarget } from "./node-target.ts";
import { mapTargetOf, namingProperty, targetOf } from "./node-target.ts";
import type { NodeKind, NodePort, NodeType } from "./node-type.ts";
import { isCostHint } from "./node-type.ts";
import { anything, input } from "./ports.ts";

/** An agent that nodes can call. */
export interface CallableAgent {
  readonly id: string;
  /** Whether it has a workflow, so that nodes of the kind `workflow` call it, and not those of the kind `agent`. */
  readonly hasWorkflow: boolean;
  /** JSON Schema of its answer. Undefined: text. */
  readonly outputSchema?: JsonObject | undefined;
}

/** What nodes can call. */
export interface NodeCatalog {
  readonly tools: readonly ToolDescriptor[];
  readonly agents: readonly CallableAgent[];
}

/**
 * Returns the type of a node, with the inputs of the tool or agent that it calls, whether its type or a property names that. Undefined: the type
 * does not exist. The type of a tool or agent that does not exist is the general one.
 */
export function nodeTypeOf(
  node: Pick<WorkflowNode, "type" | "properties">,
  catalog: NodeCatalog,
): NodeType | undefined {
  const target = targetOf(node);
  const general = target && builtinNodeTypes.get(target.kind);
  if (target === undefined || general === undefined) return undefined;
  const isNamed = node.type !== target.kind;
  const base = isNamed ? { ...general, id: node.type, ...withoutName(target, general) } : general;
  if (target.kind === "map") return mapType(node, base, catalog);
  return { ...base, ...partsOf(target, catalog) };
}

/** Returns the types of all nodes: the built-in ones, and one for each tool, agent, and workflow. */
export function allNodeTypes(catalog: NodeCatalog): readonly NodeType[] {
  const ids = [
    ...catalog.tools.map(({ name }) => `tool:${name}`),
    ...catalog.agents.map(({ id, hasWorkflow }) => `${hasWorkflow ? "workflow" : "agent"}:${id}`),
  ];
  return [...builtinNodeTypes.keys(), ...ids].flatMap(
    (type) => nodeTypeOf({ type }, catalog) ?? [],
  );
}

/** A type that names its tool or agent has no property for it. */
function withoutName({ kind, name }: NodeTarget, { propertiesSchema }: NodeType) {
  const property = namingProperty(kind) ?? "";
  const { properties, ...rest } = propertiesSchema;
  const { [property]: _, ...others } = isSchema(properties) ? properties : {};
  return { title: name, propertiesSchema: { ...rest, properties: others, required: [] } };
}

type Parts = Partial<
  Pick<
    NodeType,
    | "title"
    | "description"
    | "inputs"
    | "outputs"
    | "takesOtherInputs"
    | "permissionClass"
    | "costHint"
    | "problem"
  >
>;

/** Returns what the tool or agent of a node changes in its type. */
function partsOf({ kind, name }: NodeTarget, { tools, agents }: NodeCatalog): Parts {
  if (kind === "tool" || kind === "http") {
    const tool = tools.find((each) => each.name === name);
    return tool === undefined ? {} : toolParts(kind, tool);
  }
  if (kind === "media") return { problem: mediaProblem(name, tools) };
  const schema =
    kind === "agent" || kind === "workflow"
      ? agents.find(({ id }) => id === name)?.outputSchema
      : undefined;
  return typedResult(kind, schema);
}

/** Returns the outputs of a node whose result has a schema. */
function typedResult(kind: NodeKind, schema: JsonObject | undefined): Pick<Parts, "outputs"> {
  if (schema === undefined) return {};
  const { outputs = [] } = builtinNodeTypes.get(kind) ?? {};
  return {
    outputs: outputs.map((port) => (port.handle === "result" ? { ...port, schema } : port)),
  };
}

/** Returns why a node generates no media. Empty: it does, or names no kind of media, which is another violation. */
function mediaProblem(name: string, tools: NodeCatalog["tools"]): string {
  const found = tools.flatMap((tool) => mediaKindOf(tool) ?? []);
  if (name === "") {
    return found.length > 0
      ? ""
      : `the agent has no model that generates media; set ${mediaField("image")} or ${mediaField("speech")}`;
  }
  if (!isMediaKind(name)) {
    return `nothing generates "${name.slice(0, 64)}"; the kinds of media are ${mediaKinds.join(", ")}`;
  }
  return found.includes(name)
    ? ""
    : `the agent has no tool ${mediaToolName(name)}: set ${mediaField(name)} to a model that generates ${name}, and let its tool filter pass the tool`;
}

function toolParts(kind: NodeKind, tool: ToolDescriptor): Parts {
  const { description, inputSchema = {}, permissionClass, title, outputSchema, costHint } = tool;
  const { properties, required, additionalProperties } = inputSchema;
  const needed = new Set(Array.isArray(required) ? required : []);
  const known = isSchema(properties) ? Object.entries(properties) : [];
  const inputs = known.map(([name, value]): NodePort => {
    const schema = isSchema(value) ? value : anything;
    const about = typeof schema["description"] === "string" ? schema["description"] : "";
    return input(name, about, { schema, required: needed.has(name) });
  });
  const takesOtherInputs = additionalProperties !== false;
  return {
    ...(title !== "" && { title }),
    description,
    inputs,
    takesOtherInputs,
    permissionClass,
    ...typedResult(kind, outputSchema),
    ...(isCostHint(costHint) && { costHint }),
  };
}

/** A map has the inputs of what it calls, without the one that takes the item. */
function mapType(
  node: Pick<WorkflowNode, "type" | "properties">,
  base: NodeType,
  catalog: NodeCatalog,
): NodeType {
  const target = mapTargetOf(node);
  const called = calledTypeOf(node, catalog);
  if (target === undefined || called === undefined) return base;
  const item = itemInputOf(node, called);
  const shared = called.inputs.filter(({ handle }) => handle !== item && handle !== "items");
  return {
    ...base,
    inputs: [...base.inputs, ...shared],
    takesOtherInputs: called.takesOtherInputs,
    permissionClass: called.permissionClass,
    costHint: called.costHint,
  };
}

/** Returns the type of the nodes that a map runs for each item. Undefined: it names none. */
export function calledTypeOf(
  node: Pick<WorkflowNode, "properties">,
  catalog: NodeCatalog,
): NodeType | undefined {
  const type = node.properties?.["node_type"];
  return typeof type === "string" && mapTargetOf(node) !== undefined
    ? nodeTypeOf({ type }, catalog)
    : undefined;
}

/** Returns the input of what a map calls that takes the item. Undefined: none is named, and there are several. */
export function itemInputOf(
  { properties }: Pick<WorkflowNode, "properties">,
  { inputs }: Pick<NodeType, "inputs">,
): string | undefined {
  const named = properties?.["item_input"];
  return typeof named === "string" ? named : mainInput(inputs)?.handle;
}
