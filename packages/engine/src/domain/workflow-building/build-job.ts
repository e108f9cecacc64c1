import type { JsonObject } from "@bufbuild/protobuf";
import { buildInstructions, buildTask } from "@reeve/agent/workflow/building/build-prompt";
import { graphOf, graphSchema } from "@reeve/agent/workflow/building/graph-schema";
import { workflowViolations } from "@reeve/agent/workflow/check/check-workflow";
import { allNodeTypes } from "@reeve/agent/workflow/node-catalog";
import { listViolations } from "@reeve/platform/list-violations";
import type { Job } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { nodeRegistry } from "./node-registry.ts";

/** Returns the job of a call of `build_workflow`, whose subtask knows the types of nodes from the time at which it opens. */
export function buildJob(objective: string): Job {
  return {
    title: "Plan a workflow",
    instructions: objective,
    additionalContext: "",
    tools: [],
    outputSchema: graphSchema,
    systemPrompt: buildInstructions,
    buildsWorkflow: true,
  };
}

/** Returns a job with what its subtask has to know beside the call. */
export function withNodeTypes(state: RunState, job: Job): Job {
  if (job.buildsWorkflow !== true) return job;
  const types = allNodeTypes(nodeRegistry(state).catalog);
  return { ...job, instructions: buildTask(job.instructions, types) };
}

/** Returns everything that is wrong with the workflow that a subtask gives as its result. Undefined: nothing, or it builds none. */
export function graphProblem(
  state: RunState,
  job: Job | undefined,
  result: JsonObject = {},
): string | undefined {
  if (job?.buildsWorkflow !== true) return undefined;
  const graph = graphOf(result);
  if (graph === undefined) return "the result is no workflow";
  const violations = workflowViolations(graph, nodeRegistry(state));
  if (violations.length === 0) return undefined;
  return `the workflow is not valid; correct all of this, and give the whole workflow again: ${listViolations(violations)}`;
}
