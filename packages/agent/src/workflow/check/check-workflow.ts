import type { Workflow } from "@reeve/contracts/extensions/workflow";
import { WorkflowSchema } from "@reeve/contracts/extensions/workflow";
import type { Violation } from "@reeve/platform/failure";
import { ruleViolations } from "@reeve/platform/strict/assert-valid";
import { checkContext } from "./check-context.ts";
import { checkEdges } from "./check-edges.ts";
import { checkNodes } from "./check-nodes.ts";
import type { WorkflowContext } from "./workflow-context.ts";

/** The limits of the contract. */
const maxNodes = 500;
const maxEdges = 2_000;

/**
 * Returns what is wrong with a workflow that the rules of its contract cannot express, with paths that begin with `workflow`. Those rules alone
 * refuse one that is empty or too large.
 */
export function checkWorkflow(
  workflow: Pick<Workflow, "nodes" | "edges">,
  context: WorkflowContext,
): readonly Violation[] {
  const { nodes, edges } = workflow;
  if (nodes.length === 0 || nodes.length > maxNodes || edges.length > maxEdges) return [];
  const checking = checkContext(context);
  return [...checkNodes(workflow, checking), ...checkEdges(workflow, checking)];
}

/** Returns everything that is wrong with a workflow that belongs to no spec: what `checkWorkflow` returns, and by the rules of its contract. */
export function workflowViolations(
  workflow: Workflow,
  context: WorkflowContext,
): readonly Violation[] {
  const byRules = ruleViolations(WorkflowSchema, workflow).map((each) => ({
    ...each,
    field: `workflow.${each.field}`,
  }));
  return [...byRules, ...checkWorkflow(workflow, context)];
}
