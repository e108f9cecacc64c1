import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { WorkflowNode } from "@reeve/contracts/extensions/workflow";
import { delegateToolName } from "../delegates/delegate-tool.ts";
import { isMediaKind, mediaToolName } from "../media/media-kinds.ts";
import { runSubtaskName } from "../tools/runtime-tools.ts";
import type { NodeTarget } from "./node-target.ts";

/** The name of the tool that runs the code of nodes. */
export const codeTool = "execute_code";

/** A call of a tool of the agent. */
export interface NodeCall {
  readonly tool: string;
  readonly args: JsonObject;
}

/** Returns the tool that a node, or each item of a map, calls. Undefined: none, as for a condition. */
export function toolOf({ kind, name }: NodeTarget): string | undefined {
  switch (kind) {
    case "tool":
    case "http":
      return name;
    case "agent":
    case "workflow":
      return delegateToolName(name);
    case "model":
      return runSubtaskName;
    case "code":
      return codeTool;
    case "media":
      return isMediaKind(name) ? mediaToolName(name) : undefined;
    case "input":
    case "output":
    case "condition":
    case "map":
    case "merge":
    case "approval":
    case "delay":
      return undefined;
  }
}

/** Returns the call that a node makes with its inputs. Undefined: its target calls no tool. */
export function callOf(
  target: NodeTarget,
  node: Pick<WorkflowNode, "id" | "name" | "properties">,
  inputs: JsonObject,
): NodeCall | undefined {
  const tool = toolOf(target);
  if (tool === undefined) return undefined;
  const { properties = {} } = node;
  switch (target.kind) {
    case "agent":
      return { tool, args: { prompt: promptOf(inputs) } };
    case "workflow":
      return { tool, args: { prompt: textOf(inputs["input"] ?? null) } };
    case "model":
      return { tool, args: subtaskOf(node, properties, inputs) };
    case "code": {
      const { code, timeout } = properties;
      const args = { code: codeWith(typeof code === "string" ? code : "", inputs) };
      return { tool, args: timeout === undefined ? args : { ...args, timeout } };
    }
    case "media": {
      const { media: _kind, on_error: _onError, inputs: _constants, ...settings } = properties;
      const prompt = textOf(inputs["prompt"] ?? "");
      return {
        tool,
        args: target.name === "speech" ? { text: prompt, ...settings } : { prompt, ...settings },
      };
    }
    default:
      return { tool, args: inputs };
  }
}

/** Returns a value as a text: a text as it is, and any other value as JSON. */
export function textOf(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Returns the prompt of an agent or model, with the further inputs after it, each under its name. */
function promptOf({ prompt = "", ...further }: JsonObject): string {
  const parts = Object.entries(further).map(([name, value]) => `${name}:\n${textOf(value)}`);
  return [textOf(prompt), ...parts].join("\n\n");
}

function subtaskOf(
  { id, name }: Pick<WorkflowNode, "id" | "name">,
  { instructions, output_schema: schema }: JsonObject,
  inputs: JsonObject,
): JsonObject {
  const prompt = promptOf(inputs);
  return {
    title: name === "" ? id : name,
    instructions:
      typeof instructions === "string" && instructions !== ""
        ? `${instructions}\n\n${prompt}`
        : prompt,
    tools: [],
    ...(schema !== undefined && { output_schema: schema }),
  };
}

function codeWith(code: string, inputs: JsonObject): string {
  return `inputs = ${pythonLiteral(inputs)}\n${code}`;
}

/** Returns a Python expression of a JSON value. A text in JSON is one in Python, too. */
function pythonLiteral(value: JsonValue): string {
  if (value === null) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(", ")}]`;
  const entries = Object.entries(value).map(
    ([key, each]) => `${JSON.stringify(key)}: ${pythonLiteral(each)}`,
  );
  return `{${entries.join(", ")}}`;
}
