import type { ToolDescriptor } from "@reeve/contracts/tool";
import type { OfferedTool } from "./exclusion-reason.ts";
import { finishSubtaskName } from "./runtime-tools.ts";

/** Tools that clients offer and a run can have. */
interface ClientTools {
  readonly offered: ReadonlyMap<string, OfferedTool>;
  readonly warnings: readonly string[];
}

/**
 * Returns the tools of clients by name, without those that have the name of a tool of the deployment: what a client offers must
 * neither replace such a tool nor prevent a run.
 */
export function clientTools(
  tools: readonly ToolDescriptor[],
  ofDeployment: ReadonlyMap<string, OfferedTool>,
): ClientTools {
  const offered = new Map<string, OfferedTool>();
  const warnings: string[] = [];
  for (const descriptor of tools) {
    const { name, source } = descriptor;
    const isTaken = ofDeployment.has(name) || name === finishSubtaskName;
    if (isTaken) {
      warnings.push(
        `client_tools: ${name} of ${source} is left out: the deployment has a tool with this name; offer it under another name`,
      );
    } else if (!offered.has(name)) offered.set(name, { descriptor, isolation: "none" });
  }
  return { offered, warnings };
}
