import { nodeTypeOf } from "@reeve/agent/workflow/node-catalog";
import type { NodeCatalog } from "@reeve/agent/workflow/node-catalog";
import type { NodeType } from "@reeve/agent/workflow/node-type";
import type { Topology } from "@reeve/agent/workflow/topology";
import { topology } from "@reeve/agent/workflow/topology";
import type { WorkflowNode } from "@reeve/contracts/extensions/workflow";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import type { Frame, FrameWorkflow } from "../state/frame.ts";

/** The graph of a frame's workflow, with the types of its nodes in this run. */
export interface WorkflowPlan {
  readonly graph: Topology;
  /** The position of each node in the spec, by id. */
  readonly positions: ReadonlyMap<string, number>;
  typeOf(node: WorkflowNode): NodeType | undefined;
  /** What nodes can call. */
  readonly catalog: NodeCatalog;
}

/** The tools of a frame never change, and belong to it alone. */
const known = new WeakMap<ReadonlyMap<string, ToolDescriptor>, WorkflowPlan>();

/** Returns the plan of a frame's workflow: the same object as long as the frame exists. */
export function planOf({ tools }: Frame, { graph: workflow, agents }: FrameWorkflow): WorkflowPlan {
  const before = known.get(tools);
  if (before !== undefined) return before;
  const graph = topology(workflow);
  const catalog: NodeCatalog = { tools: [...tools.values()], agents };
  const types = new Map([...graph.nodes].map(([id, node]) => [id, nodeTypeOf(node, catalog)]));
  const plan: WorkflowPlan = {
    graph,
    positions: new Map([...graph.nodes.keys()].map((id, index) => [id, index])),
    typeOf: ({ id }) => types.get(id),
    catalog,
  };
  known.set(tools, plan);
  return plan;
}
