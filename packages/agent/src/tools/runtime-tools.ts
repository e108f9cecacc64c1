import type { JsonObject } from "@bufbuild/protobuf";
import type { AgentSpec } from "@reeve/contracts/agent";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import { PermissionClass, ToolCategory } from "@reeve/contracts/tool";
import { mediaTools } from "../media/media-tools.ts";
import { openSkill } from "./open-skill.ts";
import { runtimeSource, runtimeTool } from "./runtime-tool.ts";

export const runSubtaskName = "run_subtask";
export const parallelSubtasksName = "run_parallel_subtasks";
/** Only subtasks with an output schema have this tool. No other source may offer a tool with its name. */
export const finishSubtaskName = "finish_subtask";
export const retrieveArtifactName = "retrieve_artifact";
export const memoryReadName = "memory_read";
export const askUserName = "ask_user";

export { runtimeSource };

/** Upper limit of the jobs of one call, whatever an agent configures. */
export const maxParallelJobs = 7;
const defaultParallelJobs = 3;

const text = (description: string): JsonObject => ({ type: "string", description });
const toolNames: JsonObject = {
  type: ["array", "null"],
  items: { type: "string" },
  description: "Names of the tools that it may use. Left out: all that you may give; empty: none.",
};
const outputSchema: JsonObject = {
  type: ["object", "null"],
  description:
    "JSON Schema of the result. A result that is no object is the property `result` of one. Left out: the result is text.",
};

/**
 * Returns the tools that the runtime itself offers to an agent, whichever toolhosts exist. Policy and filters apply to them
 * too.
 */
export function runtimeTools(spec: AgentSpec): readonly ToolDescriptor[] {
  return [
    runSubtask,
    ...(spec.allowParallelSubagents ? [runParallelSubtasks(spec)] : []),
    ...memoryTools,
    ...todoTools,
    ...(spec.questions === undefined ? [] : [askUser]),
    ...(spec.skills.length === 0 ? [] : [openSkill]),
    ...mediaTools(spec),
  ];
}

const runSubtask = runtimeTool(
  runSubtaskName,
  PermissionClass.SUBAGENT,
  "Has a part of the work done by a subtask that starts with an empty conversation: it knows only what you tell it here, and the shared memory. Call it several times in one turn to have independent parts done at the same time.",
  {
    title: text("A short label for people."),
    instructions: text("What is to be done, with everything that has to be known for it."),
    additional_context: text("Further context, if any."),
    tools: toolNames,
    output_schema: outputSchema,
  },
  ["title", "instructions"],
);

function runParallelSubtasks({ maxParallelSubagents }: AgentSpec): ToolDescriptor {
  const maxJobs = Math.min(maxParallelSubagents ?? defaultParallelJobs, maxParallelJobs);
  return runtimeTool(
    parallelSubtasksName,
    PermissionClass.SUBAGENT,
    `Has up to ${maxJobs} independent jobs done at the same time, each by a subtask of its own, and returns one entry for each: its result or its error.`,
    {
      jobs: {
        type: "array",
        minItems: 1,
        maxItems: maxJobs,
        items: {
          type: "object",
          properties: {
            task: text("What is to be done, with everything that has to be known for it."),
            additional_context: text("Further context, if any."),
            tool_names: toolNames,
            output_schema: outputSchema,
            system_prompt: text("How the subtask is to see its role, if that matters."),
          },
          required: ["task"],
        },
      },
    },
    ["jobs"],
  );
}

const memoryTools = [
  runtimeTool(
    "memory_list",
    PermissionClass.KNOWLEDGE,
    "Lists what the shared memory of this run holds: keys and sizes. Results of subtasks stand under task:<id>.",
    {},
    [],
  ),
  runtimeTool(
    memoryReadName,
    PermissionClass.KNOWLEDGE,
    "Reads one entry of the shared memory of this run.",
    {
      key: text("The key."),
      offset: {
        type: "integer",
        minimum: 0,
        description: "The character to begin at; 0 unless given.",
      },
    },
    ["key"],
  ),
  runtimeTool(
    "memory_write",
    PermissionClass.KNOWLEDGE,
    "Writes one entry of the shared memory of this run, in place of the one before. Subtasks that begin later can read it.",
    { key: text("The key; not one that begins with task:."), value: text("The text to keep.") },
    ["key", "value"],
  ),
];

const askUser = runtimeTool(
  askUserName,
  PermissionClass.SAFE,
  "Asks a person a question, and waits for the answer, perhaps for days. Ask only what you cannot find out yourself and need in order to continue.",
  {
    question: text("The question, with everything that has to be known to answer it."),
    choices: {
      type: ["array", "null"],
      items: { type: "string" },
      description:
        "The possible answers. Left out: the answer is text, or what answer_schema says.",
    },
    multiple: {
      type: ["boolean", "null"],
      description: "Whether several choices may be answered. Left out: exactly one.",
    },
    answer_schema: {
      type: ["object", "null"],
      description:
        "JSON Schema of an answer with several values: an object. Left out: the answer is the property `answer`.",
    },
  },
  ["question"],
);

const todoId: JsonObject = { type: "integer", minimum: 1, description: "Number of the todo." };

const todoTools = [
  runtimeTool(
    "add_todo",
    PermissionClass.SAFE,
    "Adds a todo to the list of this run.",
    { text: text("What is to be done.") },
    ["text"],
  ),
  runtimeTool("list_todos", PermissionClass.SAFE, "Lists the todos of this run.", {}, []),
  runtimeTool(
    "update_todo_status",
    PermissionClass.SAFE,
    "Says how far a todo is. At most one is in progress at a time.",
    { id: todoId, status: { enum: ["pending", "in_progress", "completed"] } },
    ["id", "status"],
  ),
  runtimeTool("complete_todo", PermissionClass.SAFE, "Marks a todo as completed.", { id: todoId }, [
    "id",
  ]),
].map((tool) => ({ ...tool, category: ToolCategory.PLANNING }));

export const recallName = "recall";

/** The tools of long-term memory, which only runs with `memory_enabled` have. */
export const longTermMemoryTools = [
  runtimeTool(
    "remember",
    PermissionClass.KNOWLEDGE,
    "Remembers a fact about the user for later conversations. Use it for lasting facts and preferences that the user told you, never for secrets.",
    { text: text("The fact, as one sentence that is clear without its context.") },
    ["text"],
  ),
  runtimeTool(
    recallName,
    PermissionClass.KNOWLEDGE,
    "Searches the memories of the user from earlier conversations.",
    {
      query: text("Words to search for."),
      limit: {
        type: "integer",
        minimum: 1,
        maximum: 20,
        description: "The maximum number of memories. Default: 5.",
      },
    },
    ["query"],
  ),
  runtimeTool(
    "forget",
    PermissionClass.KNOWLEDGE,
    "Deletes a memory of the user.",
    { memory_id: text("The id of the memory.") },
    ["memory_id"],
  ),
];

export const retrieveArtifact = runtimeTool(
  retrieveArtifactName,
  PermissionClass.KNOWLEDGE,
  "Reads a part of a result that was too large to be shown in full, or of another artifact of this run.",
  {
    artifact_id: text("The id of the artifact, as given in the shortened result."),
    offset: { type: "integer", minimum: 0, description: "The byte to start at. Default: 0." },
    limit: {
      type: "integer",
      minimum: 1,
      maximum: 50_000,
      description: "The number of bytes to read. Default: 20000.",
    },
  },
  ["artifact_id"],
);
