import type { Workflow } from "@reeve/contracts/extensions/workflow";
import type { Violation } from "@reeve/platform/failure";
import { checkEdges } from "./check-edges.ts";
import { checkNodes } from "./check-nodes.ts";
import type { WorkflowContext } from "./workflow-context.ts";

/** How many nodes and edges a workflow may have. The contract has the same limits. */
export const maxNodes = 500;
export const maxEdges = 2_000;

/**
 * Returns everything that is wrong with a workflow, with paths that begin with `workflow`. A workflow that is too large is not checked any further.
 * The shape of ids is left to the rules of the contract.
 */
export function checkWorkflow(
  workflow: Pick<Workflow, "nodes" | "edges">,
  context: WorkflowContext,
): readonly Violation[] {
  const { nodes, edges } = workflow;
  const tooMany = [
    ...limitViolation("workflow.nodes", nodes.length, maxNodes),
    ...limitViolation("workflow.edges", edges.length, maxEdges),
  ];
  if (tooMany.length > 0) return tooMany;
  if (nodes.length === 0) {
    const description = "is empty; a workflow has at least one node";
    return [{ field: "workflow.nodes", description, reason: "EMPTY_WORKFLOW" }];
  }
  return [...checkNodes(workflow, context), ...checkEdges(workflow, context)];
}

function limitViolation(field: string, count: number, limit: number): readonly Violation[] {
  if (count <= limit) return [];
  const description = `has ${count} entries; the limit is ${limit}`;
  return [{ field, description, reason: "TOO_MANY_ENTRIES" }];
}
