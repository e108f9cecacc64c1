import { namedPaths } from "@reeve/agent/tools/named-paths";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import type { Call } from "../state/frame.ts";
import { approvedCall } from "./approved-call.ts";

/** Returns the paths of files that a call names, with the arguments that it would be executed with. */
export function boundPaths(tool: ToolDescriptor, pending: Call): readonly string[] {
  if (tool.pathArguments.length === 0) return [];
  return namedPaths(tool, approvedCall(pending).arguments ?? {});
}
