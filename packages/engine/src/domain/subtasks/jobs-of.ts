import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { ToolCall } from "@reeve/contracts/tool";
import { delegateIdOf } from "@reeve/agent/delegates/delegate-tool";
import { parallelSubtasksName } from "@reeve/agent/tools/runtime-tools";
import { buildWorkflowName } from "@reeve/agent/workflow/building/editor-tools";
import type { Job } from "../state/frame.ts";
import { buildJob } from "../workflow-building/build-job.ts";

/** Returns the jobs in the arguments of a call, which fit the schema of the tool. */
export function jobsOf({ name, arguments: args = {} }: ToolCall): readonly Job[] {
  const agentId = delegateIdOf(name);
  if (agentId !== undefined) return [jobOfDelegate(agentId, args)];
  if (name === buildWorkflowName) return [buildJob(textOf(args["objective"]))];
  if (name !== parallelSubtasksName) return [singleJob(args)];
  const { jobs } = args;
  return Array.isArray(jobs) ? jobs.map((job) => oneOfMany(objectOf(job))) : [];
}

function singleJob(args: JsonObject): Job {
  return {
    title: textOf(args["title"]),
    instructions: textOf(args["instructions"]),
    additionalContext: textOf(args["additional_context"]),
    tools: namesOf(args["tools"]),
    outputSchema: schemaOf(args["output_schema"]),
    systemPrompt: "",
  };
}

function jobOfDelegate(agentId: string, args: JsonObject): Job {
  const instructions = textOf(args["prompt"]);
  return {
    title: titleOf(`${agentId}: ${instructions.trim()}`),
    agentId,
    instructions,
    additionalContext: "",
    tools: undefined,
    outputSchema: undefined,
    systemPrompt: "",
  };
}

function oneOfMany(args: JsonObject): Job {
  const task = textOf(args["task"]);
  return {
    title: titleOf(task),
    instructions: task,
    additionalContext: textOf(args["additional_context"]),
    tools: namesOf(args["tool_names"]),
    outputSchema: schemaOf(args["output_schema"]),
    systemPrompt: textOf(args["system_prompt"]),
  };
}

const titleCharacters = 80;

/** Returns the first line of a task, shortened for display. */
function titleOf(task: string): string {
  const [line = ""] = task.trim().split("\n", 1);
  // A character has at most two UTF-16 units, so one unit more shows that the line is too long.
  const characters = Array.from(line.slice(0, titleCharacters * 2 + 1));
  return characters.length <= titleCharacters
    ? line
    : `${characters.slice(0, titleCharacters - 1).join("")}…`;
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

/** Some models write null for an omitted argument. */
function namesOf(value: JsonValue | undefined): readonly string[] | undefined {
  return Array.isArray(value) ? value.map(textOf) : undefined;
}

function schemaOf(value: JsonValue | undefined): JsonObject | undefined {
  return isObject(value) ? value : undefined;
}

function objectOf(value: JsonValue): JsonObject {
  return isObject(value) ? value : {};
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
