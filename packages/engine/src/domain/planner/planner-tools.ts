import type { RunPrepared } from "@reeve/contracts/run";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import { PermissionClass } from "@reeve/contracts/tool";

/** The tools of the planner: the executor's, without those that begin subtasks. Planning is to stay a look ahead. */
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
