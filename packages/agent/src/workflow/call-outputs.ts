import type { JsonValue } from "@bufbuild/protobuf";
import type { Workflow } from "@reeve/contracts/extensions/workflow";
import type { ToolResult } from "@reeve/contracts/tool";
import type { NodeOutputs } from "./node-inputs.ts";
import type { NodeTarget } from "./node-target.ts";
import { targetOf } from "./node-target.ts";

/** Returns the outputs of a node whose call succeeded. The engine decides what becomes of one that failed. */
export function outputsOfResult(
  target: NodeTarget,
  { content, structured }: Pick<ToolResult, "content" | "structured">,
): NodeOutputs {
  if (target.kind !== "code") return new Map([["result", structured ?? content]]);
  const { result = null, stdout = "" } = structured ?? {};
  return new Map([
    ["result", typeof result === "string" ? parsedOr(result) : result],
    ["stdout", stdout],
  ]);
}

function parsedOr(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}

/**
 * Returns the answer of a workflow: the value of its only output, or with several outputs an object with the value of each that has
 * one, by the node's name, or its id if it has no name. Undefined: no output has a value.
 */
export function answerOf(
  { nodes }: Pick<Workflow, "nodes">,
  outputsOf: (id: string) => NodeOutputs | undefined,
): JsonValue | undefined {
  const outputs = nodes.filter((node) => targetOf(node)?.kind === "output");
  const values = outputs.flatMap(({ id, name }): readonly (readonly [string, JsonValue])[] => {
    const value = outputsOf(id)?.get("value");
    return value === undefined ? [] : [[name === "" ? id : name, value]];
  });
  if (outputs.length > 1) return values.length === 0 ? undefined : Object.fromEntries(values);
  return values[0]?.[1];
}
