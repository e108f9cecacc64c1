import { itemInputOf } from "@reeve/agent/workflow/node-catalog";
import { mapTargetOf, namingProperty, targetOf } from "@reeve/agent/workflow/node-target";
import type { NodePort, NodeType } from "@reeve/agent/workflow/node-type";
import type {
  NodePort as ListedPort,
  NodeType as ListedType,
  WorkflowNode,
} from "@reeve/contracts/extensions/workflow";

/** Returns the type of a node, with the ports of what it calls. Undefined: the type does not exist. */
export type TypeOf = (node: Pick<WorkflowNode, "type" | "properties">) => NodeType | undefined;

/** Returns the types of nodes as the server lists them. The type of a tool or agent that is not listed is the general one. */
export function readTypes(listed: readonly ListedType[]): TypeOf {
  const byId = new Map(listed.map((type) => [type.id, withDefaults(type)]));
  const typeOf: TypeOf = (node) => {
    const target = targetOf(node);
    const general = target && byId.get(target.kind);
    if (target === undefined || general === undefined) return undefined;
    if (target.kind === "map") return mapType(node, general, typeOf);
    const property = namingProperty(target.kind);
    if (property === undefined) return general;
    const called = byId.get(`${target.kind === "http" ? "tool" : target.kind}:${target.name}`);
    if (node.type !== target.kind) return called ?? { ...general, title: target.name };
    const { inputs, outputs, takesOtherInputs } = called ?? general;
    return { ...general, inputs, outputs, takesOtherInputs };
  };
  return typeOf;
}

/** A map has the inputs of what it calls, without the one that takes the item. */
function mapType(
  node: Pick<WorkflowNode, "type" | "properties">,
  general: NodeType,
  typeOf: TypeOf,
): NodeType {
  const type = node.properties?.["node_type"];
  const isKnown = typeof type === "string" && mapTargetOf(node) !== undefined;
  const called = isKnown ? typeOf({ type }) : undefined;
  if (called === undefined) return general;
  const item = itemInputOf(node, called);
  const shared = called.inputs.filter(({ handle }) => handle !== item && handle !== "items");
  const inputs = [...general.inputs, ...shared];
  return { ...general, inputs, takesOtherInputs: called.takesOtherInputs };
}

function withDefaults(type: ListedType): NodeType {
  return {
    ...type,
    inputs: type.inputs.map(portOf),
    outputs: type.outputs.map(portOf),
    propertiesSchema: type.propertiesSchema ?? {},
    // The server lists no other hints.
    costHint: type.costHint as NodeType["costHint"],
  };
}

function portOf({ schema = {}, ...port }: ListedPort): NodePort {
  return { ...port, schema };
}
