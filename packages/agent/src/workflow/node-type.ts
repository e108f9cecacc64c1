import type { JsonObject } from "@bufbuild/protobuf";
import type { PermissionClass } from "@reeve/contracts/tool";

/** What a node does. The types of tools and agents, such as `tool:read_file`, are of the kind before the colon. */
export const nodeKinds = [
  "input",
  "output",
  "tool",
  "agent",
  "workflow",
  "model",
  "code",
  "http",
  "condition",
  "map",
  "merge",
  "approval",
  "delay",
  "media",
] as const;

export type NodeKind = (typeof nodeKinds)[number];

/** What a node costs: nothing, the call of a tool, a call of a model, or a run of an agent. */
export type CostHint = (typeof costHints)[number];

const costHints = ["none", "tool", "model", "agent"] as const;

/** Whether a text says what a node costs. */
export function isCostHint(text: string): text is CostHint {
  return costHints.some((hint) => hint === text);
}

/** An input or an output of a node. */
export interface NodePort {
  /** The name by which edges refer to it. Has no dots. */
  readonly handle: string;
  readonly description: string;
  /** JSON Schema of its values. Empty: any value. */
  readonly schema: JsonObject;
  /** Whether the node cannot run without a value. False for outputs. */
  readonly required: boolean;
  /** Whether several edges may lead to it. False for outputs. */
  readonly multiple: boolean;
}

/** A type of nodes. */
export interface NodeType {
  /** The value of `WorkflowNode.type`. */
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly inputs: readonly NodePort[];
  readonly outputs: readonly NodePort[];
  /** Whether a node may have inputs beside `inputs`, with any names and values. */
  readonly takesOtherInputs: boolean;
  /** What the policy and the agent must permit. `safe` if the node uses nothing outside of the run. */
  readonly permissionClass: PermissionClass;
  /** JSON Schema of `WorkflowNode.properties`. */
  readonly propertiesSchema: JsonObject;
  readonly costHint: CostHint;
  /** Why no node can have the type in this version. Empty: nodes can. */
  readonly problem: string;
}

/**
 * The input of every node that only waits: the node runs after the source of such an edge, and is skipped with it. Passes no value.
 */
export const afterHandle = "$after";

/** The output of a node that failed, if its property `on_error` is `continue`. The value is the message of the error. */
export const errorHandle = "error";
