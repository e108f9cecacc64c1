import type { JsonObject } from "@bufbuild/protobuf";
import { fromJson } from "@bufbuild/protobuf";
import type { Workflow } from "@reeve/contracts/extensions/workflow";
import { WorkflowSchema } from "@reeve/contracts/extensions/workflow";

const text: JsonObject = { type: "string" };

/** JSON Schema of a workflow, as models give it. The names of the fields are those of configuration files. */
export const graphSchema: JsonObject = {
  type: "object",
  properties: {
    nodes: {
      type: "array",
      minItems: 1,
      maxItems: 500,
      items: {
        type: "object",
        properties: {
          id: { type: "string", pattern: "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$" },
          type: text,
          name: text,
          properties: { type: "object" },
        },
        required: ["id", "type"],
        additionalProperties: false,
      },
    },
    edges: {
      type: "array",
      maxItems: 2_000,
      items: {
        type: "object",
        properties: { source: text, source_handle: text, target: text, target_handle: text },
        required: ["source", "target"],
        additionalProperties: false,
      },
    },
  },
  required: ["nodes", "edges"],
  additionalProperties: false,
};

/** Returns the workflow that a value that fits `graphSchema` describes. Undefined: it describes none. */
export function graphOf(value: JsonObject): Workflow | undefined {
  try {
    return fromJson(WorkflowSchema, value);
  } catch {
    return undefined;
  }
}
