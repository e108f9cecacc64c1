import type { JsonObject } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { PermissionClass, ToolCategory, ToolDescriptor } from "@reeve/contracts/tool";
import { ToolDescriptorSchema } from "@reeve/contracts/tool";

export interface BuiltinOptions {
  readonly name: string;
  readonly description: string;
  /** The category by which an agent disables the tool. */
  readonly category: ToolCategory;
  readonly permissionClass: PermissionClass;
  /** JSON Schemas of the arguments. */
  readonly properties: JsonObject;
  readonly required: string[];
  readonly idempotent?: boolean;
  readonly exclusiveLock?: string;
  /** Arguments that are paths of files of the workspace: an approval is bound to their content. */
  readonly pathArguments?: string[];
}

/** Returns the descriptor of a built-in tool. The host that announces the tool adds its pool. */
export function builtinDescriptor(options: BuiltinOptions): ToolDescriptor {
  const { properties, required, ...rest } = options;
  return create(ToolDescriptorSchema, {
    ...rest,
    source: "builtin",
    parallelSafe: true,
    inputSchema: { type: "object", properties, required, additionalProperties: false },
  });
}

/** Returns a string argument. The schema guarantees the type of a required argument; one that is missing is empty. */
export function stringOf(value: JsonObject[string] | undefined): string {
  return typeof value === "string" ? value : "";
}
