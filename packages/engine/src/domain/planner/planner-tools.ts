import type { RunPrepared } from "@reeve/contracts/run";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import { PermissionClass } from "@reeve/contracts/tool";

/** Returns the tools of the planner: those of the executor without those that start subtasks, so that it only explores. */
export function plannerTools({
  tools,
  planningCapabilities,
}: RunPrepared): ReadonlyMap<string, ToolDescriptor> {
  if (planningCapabilities?.tools === false) return new Map();
  return new Map(
    tools
      .filter(({ permissionClass }) => permissionClass !== PermissionClass.SUBAGENT)
      .map((tool) => [tool.name, tool]),
  );
}
