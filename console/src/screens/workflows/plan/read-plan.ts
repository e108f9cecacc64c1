import type { JsonObject } from "@bufbuild/protobuf";
import { create, fromJson } from "@bufbuild/protobuf";
import { mapTargetOf, targetOf } from "@reeve/agent/workflow/node-target";
import type { AgentSpec } from "@reeve/contracts/agent";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import type { Workflow } from "@reeve/contracts/extensions/workflow";
import { WorkflowSchema } from "@reeve/contracts/extensions/workflow";
import type { ToolResult } from "@reeve/contracts/tool";

/** Name of the tool that plans workflows. */
export const buildWorkflowName = "build_workflow";

/** Returns the workflow that a result of `build_workflow` has. Undefined: it has none, or only a part of one. */
export function planOf({
  structured,
  content,
}: Pick<ToolResult, "structured" | "content">): Workflow | undefined {
  try {
    // The next line refuses what is no workflow.
    const json = structured ?? (JSON.parse(content) as JsonObject);
    const graph = fromJson(WorkflowSchema, json);
    return graph.nodes.length === 0 ? undefined : graph;
  } catch {
    return undefined;
  }
}

/** Returns a workflow with another graph, and with the delegates that the graph calls. */
export function withPlan(spec: AgentSpec, graph: Workflow): AgentSpec {
  const called = graph.nodes.flatMap((node) => [targetOf(node), mapTargetOf(node)]);
  const agents = called.flatMap((target) =>
    target?.kind === "agent" || target?.kind === "workflow" ? [target.name] : [],
  );
  const delegates = [...new Set([...spec.delegates, ...agents])].filter((id) => id !== "");
  return create(AgentSpecSchema, { ...spec, workflow: graph, delegates });
}

/**
 * Returns a new workflow from a graph. It has the tools, the delegates, and the rules of the agent that planned it: the graph was checked
 * against those.
 */
export function newFromPlan(
  planner: AgentSpec,
  { id, name }: Pick<AgentSpec, "id" | "name">,
  graph: Workflow,
): AgentSpec {
  const { outputSchema: _, ...rules } = planner;
  const spec = { ...rules, id, name, instructions: "", planningEnabled: false };
  return withPlan(create(AgentSpecSchema, spec), graph);
}
