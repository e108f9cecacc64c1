import type { JsonObject } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import { PermissionClass, ToolDescriptorSchema } from "@reeve/contracts/tool";
import { objectSchema } from "../schema/object-schema.ts";
import { finishSubtaskName, runtimeSource } from "./runtime-tools.ts";

const descriptions = {
  subtask: "Ends this subtask with its result. Call it exactly once, when you are done.",
  run: "Ends the run with its answer. Call it exactly once, when you are done.",
} as const;

/** Returns the tool with which a model ends a subtask, or a run, whose result has a schema. */
export function finishTool(schema: JsonObject, ends: keyof typeof descriptions): ToolDescriptor {
  return create(ToolDescriptorSchema, {
    name: finishSubtaskName,
    description: descriptions[ends],
    inputSchema: objectSchema(schema),
    permissionClass: PermissionClass.SUBAGENT,
    source: runtimeSource,
  });
}
