import type { JsonObject } from "@bufbuild/protobuf";
import { PermissionClass } from "@reeve/contracts/tool";
import { mediaKinds } from "../media/media-kinds.ts";
import { imageSettings, speechSettings } from "../media/media-tools.ts";
import type { NodeKind, NodeType } from "./node-type.ts";
import { requestTool } from "./node-target.ts";
import { anything, errorOutput, input, onError, output, propertiesSchema, text } from "./ports.ts";

/** How many items a map takes unless its property `max_items` differs, and at most. */
export const defaultMapItems = 100;
export const maxMapItems = 1_000;
/** The longest delay, in seconds. */
export const maxDelaySeconds = 30 * 24 * 3_600;

/** The operators of conditions. */
export const operators = [
  "equals",
  "not_equals",
  "contains",
  "greater",
  "less",
  "exists",
  "matches",
] as const;

/** How a merge combines the values that exist. */
export const mergeModes = ["first", "list", "object"] as const;

const described = (schema: JsonObject, description: string): JsonObject => ({
  ...schema,
  description,
});
const named = (description: string) => described({ type: "string", minLength: 1 }, description);
const jsonSchema = (description: string) => described({ type: "object" }, description);

const safe = {
  takesOtherInputs: false,
  permissionClass: PermissionClass.SAFE,
  costHint: "none",
  problem: "",
} as const;

const result = output("result", "What it returns: structured if it has a structure, else text.");
const prompt = input("prompt", "What is to be done. A value that is no text becomes JSON.", {
  required: true,
});
const furtherInputs = "Further inputs are appended to the prompt, each under its name.";

/** The settings of all kinds of media. The tool refuses those of another kind. */
const mediaSettings: JsonObject = {
  ...imageSettings,
  ...speechSettings,
  format: described({ type: "string" }, "Format of the file. Default: png, or mp3 for speech."),
};

const types: readonly (Omit<NodeType, "id"> & { readonly id: NodeKind })[] = [
  {
    ...safe,
    id: "input",
    title: "Input",
    description: "The message that starts the run. A workflow has at most one.",
    inputs: [],
    outputs: [output("value", "The text; with `schema`, the JSON value that the text is.")],
    propertiesSchema: {
      type: "object",
      properties: { schema: jsonSchema("JSON Schema of the input. Left out: the input is text.") },
      additionalProperties: false,
    },
  },
  {
    ...safe,
    id: "output",
    title: "Output",
    description:
      "The answer of the run. With several outputs, the answer is an object with the value of each that has one, by the name of the node, or by its id if it has no name.",
    inputs: [input("value", "The answer.", { required: true })],
    outputs: [],
    propertiesSchema: propertiesSchema(),
  },
  {
    ...safe,
    id: "tool",
    title: "Tool",
    description: "Calls a tool of the agent. Its inputs are the arguments of the tool.",
    inputs: [],
    outputs: [result, errorOutput],
    takesOtherInputs: true,
    costHint: "tool",
    propertiesSchema: propertiesSchema({ tool: named("Name of the tool."), on_error: onError }, [
      "tool",
    ]),
  },
  {
    ...safe,
    id: "agent",
    title: "Agent",
    description: `Has an agent do a task: one of \`delegates\`. ${furtherInputs}`,
    inputs: [prompt],
    outputs: [result, errorOutput],
    takesOtherInputs: true,
    permissionClass: PermissionClass.SUBAGENT,
    costHint: "agent",
    propertiesSchema: propertiesSchema({ agent: named("Id of the agent."), on_error: onError }, [
      "agent",
    ]),
  },
  {
    ...safe,
    id: "workflow",
    title: "Sub-workflow",
    description: "Runs another workflow: one of `delegates`.",
    inputs: [input("input", "The input of the workflow.", { required: true })],
    outputs: [result, errorOutput],
    permissionClass: PermissionClass.SUBAGENT,
    costHint: "agent",
    propertiesSchema: propertiesSchema(
      { workflow: named("Id of the workflow."), on_error: onError },
      ["workflow"],
    ),
  },
  {
    ...safe,
    id: "model",
    title: "Model",
    description: `Asks the model of the agent, which has no tools there. ${furtherInputs}`,
    inputs: [prompt],
    outputs: [result, errorOutput],
    takesOtherInputs: true,
    permissionClass: PermissionClass.SUBAGENT,
    costHint: "model",
    propertiesSchema: propertiesSchema({
      instructions: described({ type: "string" }, "How the model is to answer."),
      output_schema: jsonSchema("JSON Schema of the answer. Left out: the answer is text."),
      on_error: onError,
    }),
  },
  {
    ...safe,
    id: "code",
    title: "Code",
    description:
      "Runs Python code in the sandbox. The code has its inputs in the dictionary `inputs`.",
    inputs: [],
    outputs: [
      output("result", "The value of the last expression: parsed if it is JSON, else text."),
      output("stdout", "What the code printed.", text),
      errorOutput,
    ],
    takesOtherInputs: true,
    permissionClass: PermissionClass.EXECUTE,
    costHint: "tool",
    propertiesSchema: propertiesSchema(
      {
        code: named("The Python code."),
        timeout: described({ type: "number", exclusiveMinimum: 0 }, "Time limit in seconds."),
        on_error: onError,
      },
      ["code"],
    ),
  },
  {
    ...safe,
    id: "http",
    title: "HTTP request",
    description:
      "Sends an HTTP request with a tool of the agent, which keeps to the hosts that it may reach.",
    inputs: [input("url", "The address.", { schema: text, required: true })],
    outputs: [result, errorOutput],
    takesOtherInputs: true,
    permissionClass: PermissionClass.NETWORK,
    costHint: "tool",
    propertiesSchema: propertiesSchema({
      tool: named(`Name of the tool that sends it. Left out: ${requestTool}.`),
      on_error: onError,
    }),
  },
  {
    ...safe,
    id: "condition",
    title: "Condition",
    description: "Passes its value on to one of two branches. Nodes of the other one are skipped.",
    inputs: [input("value", "The value that is compared and passed on.", { required: true })],
    outputs: [
      output("true", "The value, if the condition holds."),
      output("false", "The value, if it does not hold."),
    ],
    propertiesSchema: propertiesSchema(
      {
        path: described({ type: "string" }, "Path of the compared part, such as `order.total`."),
        operator: { enum: [...operators] },
        operand: described(anything, "What it is compared with. `exists` needs none."),
      },
      ["operator"],
    ),
  },
  {
    ...safe,
    id: "map",
    title: "Map",
    description:
      "Calls a tool, an agent, or a workflow once for each item of a list. Further inputs are the same for each.",
    inputs: [input("items", "The list.", { schema: { type: "array" }, required: true })],
    outputs: [
      output(
        "results",
        "The results, in the order of the items. With `on_error: continue`, an object with `error` in place of each that failed.",
        { type: "array" },
      ),
      errorOutput,
    ],
    takesOtherInputs: true,
    costHint: "tool",
    propertiesSchema: propertiesSchema(
      {
        node_type: named("What is called: `tool:<name>`, `agent:<id>`, or `workflow:<id>`."),
        item_input: described(
          { type: "string", minLength: 1 },
          "The input that takes the item. Left out: the only one, or the only required one.",
        ),
        max_items: described(
          { type: "integer", minimum: 1, maximum: maxMapItems },
          `How many items the list may have. Default: ${defaultMapItems}.`,
        ),
        max_parallel: described(
          { type: "integer", minimum: 1, maximum: maxMapItems },
          "How many calls run at the same time. Default: as many as the run permits.",
        ),
        on_error: onError,
      },
      ["node_type"],
    ),
  },
  {
    ...safe,
    id: "merge",
    title: "Merge",
    description: "Joins branches. Waits for all of them, and takes those that were not skipped.",
    inputs: [input("values", "The values.", { required: true, multiple: true })],
    outputs: [output("value", "The first value, in the order of the edges, or all of them.")],
    propertiesSchema: propertiesSchema({
      mode: described(
        { enum: [...mergeModes] },
        "`first`: the first value; `list`: all; `object`: all, by the ids of their nodes. Default: first.",
      ),
    }),
  },
  {
    ...safe,
    id: "approval",
    title: "Approval",
    description: "Waits until a person approves or rejects.",
    inputs: [input("value", "What is to be approved. The person reads it.")],
    outputs: [
      output("approved", "An object with `decision`, `comment`, and the `value`."),
      output("rejected", "The same, if the person rejects."),
    ],
    propertiesSchema: propertiesSchema({ question: named("What the person decides.") }, [
      "question",
    ]),
  },
  {
    ...safe,
    id: "delay",
    title: "Delay",
    description: "Waits, and passes its value on. The wait survives restarts.",
    inputs: [input("value", "The value that is passed on. Left out: null.")],
    outputs: [output("value", "The value.")],
    propertiesSchema: propertiesSchema(
      {
        seconds: described(
          { type: "number", exclusiveMinimum: 0, maximum: maxDelaySeconds },
          "How long it waits, in seconds.",
        ),
      },
      ["seconds"],
    ),
  },
  {
    ...safe,
    id: "media",
    title: "Media",
    description:
      "Generates images or speech with a model of the agent, and stores them as artifacts of the run.",
    inputs: [
      input("prompt", "What the images show, or the text that is spoken.", { required: true }),
    ],
    outputs: [
      output("result", "An object with `artifacts`: the id, name, and media type of each file."),
      errorOutput,
    ],
    permissionClass: PermissionClass.NETWORK,
    costHint: "model",
    propertiesSchema: propertiesSchema(
      {
        media: { enum: [...mediaKinds], description: "What is generated." },
        ...mediaSettings,
        on_error: onError,
      },
      ["media"],
    ),
  },
];

/** The types that every deployment has, by kind. */
export const builtinNodeTypes: ReadonlyMap<NodeKind, NodeType> = new Map(
  types.map((type) => [type.id, type]),
);
