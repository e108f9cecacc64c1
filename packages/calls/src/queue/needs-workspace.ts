import type { ToolDescriptor } from "@reeve/contracts/tool";
import { PermissionClass } from "@reeve/contracts/tool";

/**
 * Whether calls of the tool are executed where the files of the run are. Tools of MCP servers and providers have no access to them, and
 * web tools use none; those with a lock use something else that the host of the files keeps for the run.
 */
export function needsWorkspace({
  source,
  permissionClass,
  exclusiveLock,
}: Pick<ToolDescriptor, "source" | "permissionClass" | "exclusiveLock">): boolean {
  if (source !== "builtin") return false;
  return permissionClass !== PermissionClass.NETWORK || exclusiveLock !== "";
}
