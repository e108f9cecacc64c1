import type { AgentSpec } from "@reeve/contracts/agent";
import type { Workflow } from "@reeve/contracts/extensions/workflow";
import { parallelSubtasksName, runSubtaskName } from "../../tools/runtime-tools.ts";
import { toolOf } from "../node-call.ts";
import { mapTargetOf, targetOf } from "../node-target.ts";

/** Whether a run of an agent calls its model. A workflow does only if one of its nodes starts a subtask. */
export function needsModel({ workflow }: Pick<AgentSpec, "workflow">): boolean {
  return workflow === undefined || workflow.nodes.some(startsSubtask);
}

function startsSubtask(node: Workflow["nodes"][number]): boolean {
  const target = targetOf(node);
  const called = target?.kind === "map" ? mapTargetOf(node) : target;
  const tool = called && toolOf(called);
  return tool === runSubtaskName || tool === parallelSubtasksName;
}
