import { withWorkflowTools } from "@reeve/agent/workflow/wait-tools";
import type { AgentSpec } from "@reeve/contracts/agent";
import type { RunCreated } from "@reeve/contracts/run";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import type { Frame, FrameWorkflow } from "../state/frame.ts";

/** Returns the tools of a frame, and the workflow that makes its calls if its agent has one. */
export function withWorkflow(
  created: Pick<RunCreated, "delegates"> | undefined,
  spec: AgentSpec | undefined,
  input: string,
  tools: ReadonlyMap<string, ToolDescriptor>,
): Pick<Frame, "tools" | "workflow"> {
  const graph = spec?.workflow;
  if (graph === undefined) return { tools, workflow: undefined };
  const agents = (created?.delegates ?? []).map((each) => ({
    id: each.agentId,
    hasWorkflow: each.spec?.workflow !== undefined,
    outputSchema: each.spec?.outputSchema,
  }));
  const workflow: FrameWorkflow = { graph, input, agents };
  return { tools: withWorkflowTools(tools), workflow };
}
