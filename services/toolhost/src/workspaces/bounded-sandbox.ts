import type { Sandbox } from "@reeve/sandbox/port";
import type { WorkspaceLimits } from "./workspace-ports.ts";

/** A sandbox whose commands keep to the quota of the workspace, whatever they ask for. */
export function bounded(
  sandbox: Sandbox,
  { bytes, files }: Pick<WorkspaceLimits, "bytes" | "files">,
): Sandbox {
  return {
    isolation: sandbox.isolation,
    exec: ({ limits, ...command }, signal) => {
      const { workspaceBytes, workspaceFiles, fileBytes } = limits;
      const within = {
        ...limits,
        workspaceBytes: Math.min(workspaceBytes, bytes),
        workspaceFiles: Math.min(workspaceFiles, files),
        fileBytes: Math.min(fileBytes, bytes),
      };
      return sandbox.exec({ ...command, limits: within }, signal);
    },
  };
}
