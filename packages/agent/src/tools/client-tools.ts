import type { ToolDescriptor } from "@reeve/contracts/tool";
import type { OfferedTool } from "./exclusion-reason.ts";
import { toolWithParameter } from "./injected-args.ts";
import { finishSubtaskName } from "./runtime-tools.ts";

/** Tools that clients offer and a run can have. */
interface ClientTools {
  readonly offered: ReadonlyMap<string, OfferedTool>;
  readonly warnings: readonly string[];
}

/**
 * Returns the tools of clients by name, without those that have the name of a tool of the deployment or a parameter with the name of an
 * injected argument: what a client offers must neither replace such a tool nor prevent a run.
 */
export function clientTools(
  tools: readonly ToolDescriptor[],
  ofDeployment: ReadonlyMap<string, OfferedTool>,
  injectedNames: readonly string[],
): ClientTools {
  const offered = new Map<string, OfferedTool>();
  const warnings: string[] = [];
  for (const descriptor of tools) {
    const { name } = descriptor;
    const isTaken = ofDeployment.has(name) || name === finishSubtaskName;
    const injected = injectedNames.find((each) => toolWithParameter([descriptor], each));
    if (isTaken) {
      const reason = "the deployment has a tool with this name; offer it under another name";
      warnings.push(leftOutWarning(descriptor, reason));
    } else if (injected !== undefined) {
      const reason = `its parameter ${injected} has the name of an injected argument of the agent; rename it`;
      warnings.push(leftOutWarning(descriptor, reason));
    } else if (!offered.has(name)) offered.set(name, { descriptor, isolation: "none" });
  }
  return { offered, warnings };
}

/** Returns the warning about a tool of a client that a run does not have. */
export function leftOutWarning(
  { name, source }: Pick<ToolDescriptor, "name" | "source">,
  reason: string,
): string {
  return `client_tools: ${name} of ${source} is left out: ${reason}`;
}
