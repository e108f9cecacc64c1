import { toBinary } from "@bufbuild/protobuf";
import type { PlannedTool, ResolutionPlan } from "@reeve/contracts/agent";
import { PlannedToolSchema, ResolutionPlanSchema } from "@reeve/contracts/agent";
import { recordedPlan } from "./recorded-plan.ts";

/** How much of a record in the log of a run is its plan: its tools and its history need most of it. */
const maxRecordedBytes = 128 * 1024;

/** The plans of agents that many runs have. */
const recorded = new WeakMap<ResolutionPlan, ResolutionPlan>();

/** Returns what the log of a run records of a plan. It fits the log, whatever rules and tools the agent has. */
export function planForLog(plan: ResolutionPlan): ResolutionPlan {
  const known = recorded.get(plan);
  if (known !== undefined) return known;
  const { omittedCallRules, omittedTools } = plan;
  const fitting = fitPlan(
    { ...recordedPlan(plan), omittedCallRules, omittedTools },
    maxRecordedBytes,
  );
  recorded.set(plan, fitting);
  return fitting;
}

/**
 * Returns a plan of at most `maxBytes`, as far as its other parts fit. It omits the rules of calls first, then the tools that the agent
 * does not have and those of its delegates, then the last of its tools, and counts what it omits.
 */
export function fitPlan(plan: ResolutionPlan, maxBytes: number): ResolutionPlan {
  if (sizeOf(plan) <= maxBytes) return plan;
  const rules = plan.tools.reduce((sum, { callRules }) => sum + callRules.length, 0);
  const withoutRules: ResolutionPlan = {
    ...plan,
    tools: plan.tools.map((tool) => ({ ...tool, callRules: [] })),
    omittedCallRules: plan.omittedCallRules + rules,
  };
  if (sizeOf(withoutRules) <= maxBytes) return withoutRules;
  const ownOnly: ResolutionPlan = {
    ...withoutRules,
    excludedTools: [],
    delegates: withoutRules.delegates.map((delegate) => ({ ...delegate, tools: [] })),
  };
  const excess = sizeOf(ownOnly) - maxBytes;
  return excess <= 0 ? ownOnly : withoutLastTools(ownOnly, excess);
}

function withoutLastTools(plan: ResolutionPlan, excess: number): ResolutionPlan {
  let kept = plan.tools.length;
  // The count of what is omitted needs room as well.
  let missing = excess + maxCountBytes;
  while (missing > 0 && kept > 0) {
    kept -= 1;
    missing -= sizeOfTool(plan.tools[kept]);
  }
  return {
    ...plan,
    tools: plan.tools.slice(0, kept),
    omittedTools: plan.omittedTools + plan.tools.length - kept,
  };
}

const maxCountBytes = 6;

function sizeOf(plan: ResolutionPlan): number {
  return toBinary(ResolutionPlanSchema, plan).length;
}

function sizeOfTool(tool: PlannedTool | undefined): number {
  return tool === undefined ? 0 : toBinary(PlannedToolSchema, tool).length;
}
