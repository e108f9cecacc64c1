import type { JsonValue } from "@bufbuild/protobuf";
import type { WorkflowNode } from "@reeve/contracts/extensions/workflow";
import type { NodeKind } from "./node-type.ts";
import { nodeKinds } from "./node-type.ts";

/** What a node does, and with which tool or agent. */
export interface NodeTarget {
  readonly kind: NodeKind;
  /** Name of the tool for `tool` and `http`; id of the agent for `agent` and `workflow`; kind of the media for `media`. Otherwise, and if none is set, empty. */
  readonly name: string;
}

/** The kinds that call something, and the property that names it if the type of the node does not. */
const namingProperties = {
  tool: "tool",
  http: "tool",
  agent: "agent",
  workflow: "workflow",
  media: "media",
} as const;

/** The tool of nodes of the type `http` that name none. */
export const requestTool = "http_request";

type CallingKind = keyof typeof namingProperties;

/** Returns what a node does. Undefined: its type does not exist. */
export function targetOf({
  type,
  properties = {},
}: Pick<WorkflowNode, "type" | "properties">): NodeTarget | undefined {
  const separator = type.indexOf(":");
  const kind = nodeKinds.find((each) => each === (separator < 0 ? type : type.slice(0, separator)));
  if (kind === undefined) return undefined;
  if (separator < 0) {
    const named = isCalling(kind) ? textOf(properties[namingProperties[kind]]) : "";
    return { kind, name: named === "" && kind === "http" ? requestTool : named };
  }
  const name = type.slice(separator + 1);
  return name === "" || kind === "http" || !isCalling(kind) ? undefined : { kind, name };
}

/** Returns what a map does with each item. Undefined: its property `node_type` names no tool, agent, or workflow. */
export function mapTargetOf({
  properties = {},
}: Pick<WorkflowNode, "properties">): NodeTarget | undefined {
  const target = targetOf({ type: textOf(properties["node_type"]) });
  return target === undefined || target.name === "" ? undefined : target;
}

/** Returns the property that names what nodes of a general type call. Undefined: they call nothing that is named. */
export function namingProperty(kind: NodeKind): string | undefined {
  return isCalling(kind) ? namingProperties[kind] : undefined;
}

function isCalling(kind: NodeKind): kind is CallingKind {
  return Object.hasOwn(namingProperties, kind);
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}
