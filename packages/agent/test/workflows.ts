import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { Workflow, WorkflowNode } from "@reeve/contracts/extensions/workflow";
import { WorkflowEdgeSchema, WorkflowSchema } from "@reeve/contracts/extensions/workflow";
import type { SpecInit } from "./check.ts";
import { violationsOf } from "./check.ts";

type NodeInit = Omit<
  NonNullable<MessageInitShape<typeof WorkflowSchema>["nodes"]>[number],
  "$typeName"
>;

/**
 * Returns a workflow of nodes and of edges, each written as `source.output.path -> target.input`: of both ends, everything after the id of the
 * node may be left out.
 */
export function workflowOf(nodes: readonly NodeInit[], ...edges: readonly string[]): Workflow {
  return create(WorkflowSchema, {
    nodes: nodes.map((node) => ({ ...node })),
    edges: edges.map((text) => {
      const [from = "", to = ""] = text.split(" -> ");
      const [source = "", ...output] = from.split(".");
      const [target = "", targetHandle = ""] = to.split(".");
      const sourceHandle = output.join(".");
      return create(WorkflowEdgeSchema, { source, sourceHandle, target, targetHandle });
    }),
  });
}

/** Returns a node of a workflow. */
export function nodeOf(init: NodeInit): WorkflowNode {
  const [node] = workflowOf([init]).nodes;
  if (node === undefined) throw new Error("the workflow has no node");
  return node;
}

/** Returns the violations of an agent with a workflow as `field: reason`, without `workflow.`. */
export function graphViolations(workflow: Workflow, init: SpecInit = {}): string[] {
  const violations = violationsOf({ workflow, ...init });
  return violations.map((each) => each.replace(/^workflow\./, ""));
}
