import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { conditionHolds, conditionProblem } from "@reeve/agent/workflow/condition";
import type { NodeOutputs } from "@reeve/agent/workflow/node-inputs";
import { targetOf } from "@reeve/agent/workflow/node-target";
import type { WorkflowNode } from "@reeve/contracts/extensions/workflow";
import { isObject } from "../../workflow/json-object.ts";

/** Returns the outputs of a node that makes no calls. Undefined: it makes calls, or its condition cannot be decided. */
export function pureOutputs(
  node: WorkflowNode,
  inputs: JsonObject,
  message: string,
): NodeOutputs | undefined {
  const { properties = {} } = node;
  switch (targetOf(node)?.kind) {
    case "input":
      return new Map([["value", inputValue(properties, message)]]);
    case "output":
      return new Map([["value", inputs["value"] ?? null]]);
    case "merge":
      return new Map([["value", inputs["values"] ?? null]]);
    case "condition": {
      const value = inputs["value"] ?? null;
      if (conditionProblem(properties, value) !== undefined) return undefined;
      return new Map([[String(conditionHolds(properties, value)), value]]);
    }
    default:
      return undefined;
  }
}

/** The engine has checked the input against its schema, or the run has failed. */
function inputValue({ schema }: JsonObject, message: string): JsonValue {
  if (!isObject(schema) || schema["type"] === "string") return message;
  try {
    // JSON.parse gives only JSON.
    return JSON.parse(message) as JsonValue;
  } catch {
    return message;
  }
}
