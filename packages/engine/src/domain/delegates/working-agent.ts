import { create } from "@bufbuild/protobuf";
import type { AgentSpec } from "@reeve/contracts/agent";
import type { PreparedDelegate, RunPrepared } from "@reeve/contracts/run";
import { RunPreparedSchema } from "@reeve/contracts/run";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import type { Frame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";

/** The agent that works in a frame. */
export interface WorkingAgent {
  readonly spec: AgentSpec | undefined;
  /** What it became: its model, tools, limits, and policy. Undefined: the run is not prepared. */
  readonly prepared: RunPrepared | undefined;
}

/**
 * Returns the agent that works in a frame: the agent of the run, or the delegate that a call started. Both are what the log of the run
 * says they are, so that a change of either changes nothing in the run.
 */
export function workingAgent(
  { head }: Pick<RunState, "head">,
  frame: Pick<Frame, "delegate"> | undefined,
): WorkingAgent {
  const id = frame?.delegate?.agentId;
  if (id === undefined) return { spec: head.created?.spec, prepared: head.prepared };
  return {
    spec: head.created?.delegates.find(({ agentId }) => agentId === id)?.spec,
    prepared: head.prepared && preparedOf(head.prepared).get(id),
  };
}

const known = new WeakMap<RunPrepared, ReadonlyMap<string, RunPrepared>>();

/** Returns what the delegates of a run became, by id, in the form in which the agent of a run is prepared. */
function preparedOf(prepared: RunPrepared): ReadonlyMap<string, RunPrepared> {
  const before = known.get(prepared);
  if (before !== undefined) return before;
  const own = new Map(prepared.tools.map((tool) => [tool.name, tool]));
  const all = new Map(prepared.delegates.map((each) => [each.agentId, asPrepared(each, own)]));
  known.set(prepared, all);
  return all;
}

function asPrepared(
  { model, capabilities, tools, sharedTools, limits, retry, policy, ...rest }: PreparedDelegate,
  ofRun: ReadonlyMap<string, ToolDescriptor>,
): RunPrepared {
  const shared = sharedTools.flatMap((name) => ofRun.get(name) ?? []);
  return create(RunPreparedSchema, {
    tools: [...tools, ...shared].toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    fallbacks: rest.fallbacks,
    gatedTools: rest.gatedTools,
    ...(model && { model }),
    ...(capabilities && { capabilities }),
    ...(limits && { limits }),
    ...(retry && { retry }),
    ...(policy && { policy }),
  });
}
