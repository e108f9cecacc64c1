import type { JsonObject } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { PermissionClass, ToolDescriptor } from "@reeve/contracts/tool";
import { ToolCategory, ToolDescriptorSchema } from "@reeve/contracts/tool";

/** The source of the tools that the runtime itself executes. */
export const runtimeSource = "runtime";

/** Returns the descriptor of a tool that the runtime itself executes. */
export function runtimeTool(
  name: string,
  permissionClass: PermissionClass,
  description: string,
  properties: JsonObject,
  required: readonly string[],
): ToolDescriptor {
  return create(ToolDescriptorSchema, {
    name,
    description,
    permissionClass,
    source: runtimeSource,
    category: ToolCategory.GENERAL,
    idempotent: true,
    inputSchema: { type: "object", properties, required: [...required] },
  });
}
