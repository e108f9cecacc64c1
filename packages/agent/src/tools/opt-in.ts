import type { AgentSpec } from "@reeve/contracts/agent";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import { PermissionClass } from "@reeve/contracts/tool";
import { stringsOf } from "../spec/string-list.ts";
import { nameOfClass } from "./permission-classes.ts";

/**
 * Returns why an agent does not have a tool that only those have which ask for it; undefined if it is none, or the agent asks. These
 * are the built-in tools of the class `network`: they act with the network and the credentials of the toolhost, so having the class
 * by default is not enough.
 */
export function missingOptIn(
  { permissionClasses, allowedTools }: Pick<AgentSpec, "permissionClasses" | "allowedTools">,
  { name, source, permissionClass }: Pick<ToolDescriptor, "name" | "source" | "permissionClass">,
): string | undefined {
  if (source !== "builtin" || permissionClass !== PermissionClass.NETWORK) return undefined;
  const className = nameOfClass(permissionClass);
  const isNamed = stringsOf(allowedTools).strings.includes(name);
  if (isNamed || permissionClasses.includes(className)) return undefined;
  return `only agents that ask for it have it; add ${className} to permission_classes, or name it in allowed_tools`;
}
