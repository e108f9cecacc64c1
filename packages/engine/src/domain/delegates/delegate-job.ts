import { deniesTool } from "@reeve/agent/permission/decide-call";
import { finishTool } from "@reeve/agent/tools/finish-tool";
import { finishSubtaskName } from "@reeve/agent/tools/runtime-tools";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import type { Frame, Job } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { inheritableTools } from "../subtasks/child-tools.ts";
import { agentOf } from "./agent-of.ts";
import { levelsOver } from "./callers-of.ts";

/** Returns the job of a delegate with the schema of its answers. Undefined: the run has no such delegate. */
export function delegateJob(state: RunState, agentId: string, job: Job): Job | undefined {
  const { spec, prepared } = agentOf(state, agentId);
  if (spec === undefined || prepared === undefined) return undefined;
  return { ...job, outputSchema: spec.outputSchema };
}

/**
 * Returns the tools of a delegate: its own, without those that only the agent of a run may have, and without those of which a caller
 * denies every call.
 */
export function delegateTools(
  state: RunState,
  caller: Frame,
  agentId: string,
  { outputSchema }: Job,
): ReadonlyMap<string, ToolDescriptor> {
  const { prepared } = agentOf(state, agentId);
  const own = new Map((prepared?.tools ?? []).map((tool) => [tool.name, tool]));
  const levels = levelsOver(state, caller);
  const tools = new Map(
    [...inheritableTools({ tools: own })].filter(
      ([, tool]) => deniesTool(levels, tool) === undefined,
    ),
  );
  if (outputSchema !== undefined) {
    tools.set(finishSubtaskName, finishTool(outputSchema, "subtask"));
  }
  return tools;
}
