import type { JsonObject } from "@bufbuild/protobuf";
import { ToolStatus } from "@reeve/contracts/tool";
import { truncateToBytes } from "@reeve/agent/text/truncate-to-bytes";
import { parallelSubtasksName } from "@reeve/agent/tools/runtime-tools";
import { approvedCall } from "../calls/approved-call.ts";
import { delegateBudgets } from "../budget/delegate-budget.ts";
import { budgetRefusal, delegateRefusal, overBudget } from "../budget/over-budget.ts";
import { limitsOf } from "../budget/limits.ts";
import type { Fact } from "../state/fact.ts";
import { fact } from "../state/fact.ts";
import type { Call, Frame, Job } from "../state/frame.ts";
import { scopeOf } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { refuse } from "../calls/tool-result.ts";
import { answerSchemaProblem } from "@reeve/agent/schema/schema-problem";
import { delegateJob } from "../delegates/delegate-job.ts";
import { inheritableTools } from "./child-tools.ts";
import { jobsOf } from "./jobs-of.ts";

/** Returns the starts of all subtasks of a call, or the refusal of the whole call. */
export function spawnSubtasks(
  state: RunState,
  frame: Frame,
  call: Call,
  nowMs: number,
): readonly Fact[] {
  const scope = scopeOf(frame);
  const jobs = jobsOf(approvedCall(call));
  const problem = problemOf(state, frame, jobs);
  if (problem !== undefined) {
    const content = truncateToBytes(problem, limitsOf(state).resultBytes);
    return [refuse(call, scope, content, ToolStatus.ERROR, nowMs)];
  }
  const limit = limitsOf(state).subtasks;
  const observed = state.head.spent.subtasks + jobs.length;
  if (observed > limit) {
    const exceeded = { reason: "subtasks", limit, observed } as const;
    const refused = refuse(call, scope, budgetRefusal(exceeded), ToolStatus.ERROR, nowMs);
    return [refused, ...overBudget(state, exceeded)];
  }
  const over = delegateBudgets(state, frame).find(
    ({ subtasks, limits }) => subtasks + jobs.length > limits.subtasks,
  );
  if (over !== undefined) {
    const exceeded = { reason: "subtasks", limit: over.limits.subtasks } as const;
    const content = delegateRefusal(over.agentId, exceeded);
    return [refuse(call, scope, content, ToolStatus.ERROR, nowMs)];
  }
  return startRemaining(state, frame, call);
}

/** Returns the starts of those subtasks of a call that have not started, in their order. */
export function startRemaining({ frames }: RunState, frame: Frame, call: Call): readonly Fact[] {
  const { callId, name } = call.call;
  return jobsOf(approvedCall(call)).flatMap(({ title, agentId = "" }, index) => {
    const subtaskId = name === parallelSubtasksName ? `${callId}/${index}` : callId;
    const value = { subtaskId, callId, index, title, agentId };
    return frames.has(subtaskId) ? [] : [fact(scopeOf(frame), { case: "subtask", value })];
  });
}

function problemOf(state: RunState, frame: Frame, jobs: readonly Job[]): string | undefined {
  const { depth } = limitsOf(state);
  if (frame.depth >= depth) {
    return `subtasks may be nested ${depth} deep, and this one would be deeper; do this part yourself`;
  }
  const tooDeep = delegateBudgets(state, frame).find(
    (budget) => frame.depth - budget.depth >= budget.limits.depth,
  );
  if (tooDeep !== undefined) {
    return `the agent "${tooDeep.agentId}" may nest subtasks ${tooDeep.limits.depth} deep, and this one would be deeper; do this part yourself`;
  }
  const safe = inheritableTools(frame);
  const problems = jobs.flatMap((job, index) => {
    const where = jobs.length === 1 ? "" : `job ${index}: `;
    return jobProblems(state, job, [...safe.keys()]).map((problem) => where + problem);
  });
  return problems.length === 0 ? undefined : problems.join("; ");
}

function jobProblems(state: RunState, job: Job, safe: readonly string[]): readonly string[] {
  const { agentId, instructions, tools, outputSchema } = job;
  const isMissing = agentId !== undefined && delegateJob(state, agentId, job) === undefined;
  const unknown = (tools ?? []).filter((name) => !safe.includes(name));
  return [
    ...(isMissing ? [`the run has no agent "${agentId}"`] : []),
    ...(instructions.trim() === "" ? ["the instructions are empty"] : []),
    ...(unknown.length === 0
      ? []
      : [
          `a subtask cannot have the tools ${unknown.join(", ")}; it can have: ${safe.join(", ") || "none"}`,
        ]),
    ...outputProblems(outputSchema),
  ];
}

/** The schema becomes that of the arguments of `finish_subtask`. */
function outputProblems(schema: JsonObject | undefined): readonly string[] {
  if (schema === undefined) return [];
  const problem = answerSchemaProblem(schema);
  return problem === undefined ? [] : [`output_schema is not a valid JSON Schema: ${problem}`];
}
