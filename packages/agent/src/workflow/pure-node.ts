import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { WorkflowNode } from "@reeve/contracts/extensions/workflow";
import { valueProblem } from "../schema/value-problem.ts";
import { conditionHolds, conditionProblem } from "./condition.ts";
import { takesText } from "./json-text.ts";
import type { NodeOutputs } from "./node-inputs.ts";
import { targetOf } from "./node-target.ts";
import { enteringProblem, joinedProblem } from "./value-limits.ts";

/** What a node without effects gives at once. */
export type PureOutcome =
  | { readonly kind: "outputs"; readonly outputs: NodeOutputs }
  | { readonly kind: "failed"; readonly problem: string };

/** Returns the outputs of a node that has no effect, from its inputs and the message that started the run. Undefined: the node has an effect. */
export function pureOutcome(
  node: WorkflowNode,
  inputs: JsonObject,
  message: string,
): PureOutcome | undefined {
  const { properties = {} } = node;
  switch (targetOf(node)?.kind) {
    case "input":
      return inputOutcome(node, message);
    case "output":
      return outputs([["value", inputs["value"] ?? null]]);
    case "merge":
      return mergeOutcome(node, inputs["values"] ?? null);
    case "condition": {
      const value = inputs["value"] ?? null;
      const problem = conditionProblem(properties, value);
      if (problem !== undefined) return { kind: "failed", problem };
      return outputs([[String(conditionHolds(properties, value)), value]]);
    }
    default:
      return undefined;
  }
}

function outputs(entries: readonly (readonly [string, JsonValue])[]): PureOutcome {
  return { kind: "outputs", outputs: new Map(entries) };
}

function mergeOutcome({ id }: WorkflowNode, value: JsonValue): PureOutcome {
  const problem = joinedProblem(value);
  if (problem === undefined) return outputs([["value", value]]);
  return { kind: "failed", problem: `node "${id}": it cannot join its values: ${problem}` };
}

function inputOutcome({ id, properties }: WorkflowNode, message: string): PureOutcome {
  const schema = properties?.["schema"];
  if (schema === undefined) return outputs([["value", message]]);
  // The rules of specs accept objects only.
  const known = schema as JsonObject;
  if (takesText(known) && valueProblem(known, message) === undefined) {
    return outputs([["value", message]]);
  }
  const value = parsed(message);
  const problem = enteringProblem(value) ?? valueProblem(known, value);
  if (problem === undefined) return outputs([["value", value]]);
  return { kind: "failed", problem: `node "${id}": the input of the run does not fit: ${problem}` };
}

/** A message that is no JSON is a text. */
function parsed(message: string): JsonValue {
  try {
    return JSON.parse(message) as JsonValue;
  } catch {
    return message;
  }
}
