import type { JsonObject } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { PermissionClass, ToolDescriptor } from "@reeve/contracts/tool";
import { ToolDescriptorSchema } from "@reeve/contracts/tool";

export interface BuiltinOptions {
  readonly name: string;
  readonly description: string;
  readonly permissionClass: PermissionClass;
  readonly properties: JsonObject;
  readonly required: string[];
  readonly idempotent?: boolean;
  readonly exclusiveLock?: string;
}

/** The descriptor of a tool that comes with the toolhost. Its pool is set by the host that announces it. */
export function builtinTool({ properties, required, ...rest }: BuiltinOptions): ToolDescriptor {
  return create(ToolDescriptorSchema, {
    ...rest,
    source: "builtin",
    parallelSafe: true,
    inputSchema: { type: "object", properties, required, additionalProperties: false },
  });
}

/** A string argument; the schema has made sure that it is one where it is required. */
export function stringOf(value: JsonObject[string] | undefined): string {
  return typeof value === "string" ? value : "";
}
