import { create } from "@bufbuild/protobuf";
import type { PlannedNode } from "@reeve/contracts/agent";
import { PlannedNodeSchema } from "@reeve/contracts/agent";
import type { Workflow } from "@reeve/contracts/extensions/workflow";
import { toolOf } from "../node-call.ts";
import { mapTargetOf, targetOf } from "../node-target.ts";
import { topology } from "../topology.ts";

/** Returns what a plan says about the nodes of a workflow, in the order in which they can run. */
export function plannedNodes(workflow: Workflow | undefined): PlannedNode[] {
  if (workflow === undefined) return [];
  const graph = topology(workflow);
  return graph.order.flatMap((id) => {
    const node = graph.nodes.get(id);
    if (node === undefined) return [];
    const target = targetOf(node);
    const called = target?.kind === "map" ? mapTargetOf(node) : target;
    const after = [...new Set(graph.edgesTo(id).map(({ source }) => source))];
    const tool = called && toolOf(called);
    return [create(PlannedNodeSchema, { id, type: node.type, tool: tool ?? "", after })];
  });
}
