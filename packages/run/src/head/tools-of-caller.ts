import type { PreparedDelegate, RunPrepared } from "@reeve/contracts/run";
import type { ToolDescriptor } from "@reeve/contracts/tool";

/** Returns the tools of the agent that made a call: of the agent of the run, or of its delegate if there is an id of one. */
export function toolsOfCaller(
  prepared: Pick<RunPrepared, "tools" | "delegates"> | undefined,
  delegateId: string,
): readonly ToolDescriptor[] {
  const { tools = [], delegates = [] } = prepared ?? {};
  if (delegateId === "") return tools;
  const delegate = delegates.find(({ agentId }) => agentId === delegateId);
  return delegate === undefined ? [] : withShared(delegate, tools);
}

/** Returns the tools of a delegate: those that the log records for it, and those that it shares with the agent of the run. */
export function withShared(
  { tools, sharedTools }: Pick<PreparedDelegate, "tools" | "sharedTools">,
  ofRun: readonly ToolDescriptor[],
): readonly ToolDescriptor[] {
  const shared = new Set(sharedTools);
  return [...tools, ...ofRun.filter(({ name }) => shared.has(name))];
}
