import { equals } from "@bufbuild/protobuf";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import { ToolDescriptorSchema } from "@reeve/contracts/tool";

/** Returns whether a tool of a delegate is one of `tools` in the same form, so that the log of a run names it only. */
export function sharedWith(tools: readonly ToolDescriptor[]): (tool: ToolDescriptor) => boolean {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return (tool) => {
    const same = byName.get(tool.name);
    return same !== undefined && (same === tool || equals(ToolDescriptorSchema, same, tool));
  };
}
