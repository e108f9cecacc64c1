import type { JsonObject } from "@bufbuild/protobuf";
import { targetOf } from "@reeve/agent/workflow/node-target";
import type { NodeKind } from "@reeve/agent/workflow/node-type";
import { pureOutcome } from "@reeve/agent/workflow/pure-node";
import type { WorkflowNode } from "@reeve/contracts/extensions/workflow";
import { progressOfCalls } from "./calling-node.ts";
import type { GivenNode, NodeProgress } from "./node-progress.ts";

/** A source of a node's values of which only a part is known. */
export interface PartialSource {
  readonly id: string;
  readonly cutBy: string;
}

/** Returns how far a node is that has its inputs. */
export function progressOfReady(
  node: WorkflowNode,
  given: GivenNode,
  inputs: JsonObject,
  part: PartialSource | undefined,
): NodeProgress {
  const target = targetOf(node);
  if (target === undefined) return { kind: "failed", problem: `no type "${node.type}" exists` };
  if (part !== undefined && !takesParts.has(target.kind)) {
    const problem = `it needs the whole result of node "${part.id}", which is too large: ${part.cutBy}`;
    return { kind: "failed", problem };
  }
  const pure = pureOutcome(node, inputs, given.workflow.input);
  if (pure?.kind === "failed") return pure;
  const cutBy = part?.cutBy ?? "";
  if (pure !== undefined) return { kind: "ended", outputs: pure.outputs, cutBy };
  const progress = progressOfCalls(node, target, given, inputs);
  const passesOn = target.kind === "delay" || target.kind === "approval";
  return progress.kind === "ended" && passesOn ? { ...progress, cutBy } : progress;
}

/** The kinds that pass a part of a large result on, or read it as a text that says so. Others need the whole. */
const takesParts: ReadonlySet<NodeKind> = new Set([
  "agent",
  "model",
  "output",
  "approval",
  "delay",
  "merge",
]);
