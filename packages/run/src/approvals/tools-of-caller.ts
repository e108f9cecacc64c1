import type { RunPrepared } from "@reeve/contracts/run";
import type { ToolDescriptor } from "@reeve/contracts/tool";

/** Returns the tools of the agent that made a call: of the agent of the run, or of its delegate if there is an id of one. */
export function toolsOfCaller(
  prepared: Pick<RunPrepared, "tools" | "delegates"> | undefined,
  delegateId: string,
): readonly ToolDescriptor[] {
  const { tools = [], delegates = [] } = prepared ?? {};
  if (delegateId === "") return tools;
  const delegate = delegates.find(({ agentId }) => agentId === delegateId);
  const shared = new Set(delegate?.sharedTools);
  return [...(delegate?.tools ?? []), ...tools.filter(({ name }) => shared.has(name))];
}
