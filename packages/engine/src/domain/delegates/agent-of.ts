import { create } from "@bufbuild/protobuf";
import type { AgentSpec } from "@reeve/contracts/agent";
import type { PreparedDelegate, RunPrepared } from "@reeve/contracts/run";
import { RunPreparedSchema } from "@reeve/contracts/run";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import { withShared } from "@reeve/run/head/tools-of-caller";
import type { RunState } from "../state/run-state.ts";

/** An agent as the log of a run records it, so that a change of the agent changes nothing in the run. */
export interface RecordedAgent {
  readonly spec: AgentSpec | undefined;
  /** What it became: its model, tools, limits, and policy. Undefined: the run is not prepared. */
  readonly prepared: RunPrepared | undefined;
}

/** Returns a delegate of a run; without an id, the agent of the run. Both fields are undefined if the run has no such delegate. */
export function agentOf(
  { head: { created, prepared } }: Pick<RunState, "head">,
  delegateId: string | undefined,
): RecordedAgent {
  if (delegateId === undefined) return { spec: created?.spec, prepared };
  return {
    spec: created?.delegates.find(({ agentId }) => agentId === delegateId)?.spec,
    prepared: prepared && preparedOf(prepared).get(delegateId),
  };
}

const known = new WeakMap<RunPrepared, ReadonlyMap<string, RunPrepared>>();

/** Returns what the delegates of a run became, by id, in the form in which the agent of a run is prepared. */
function preparedOf(prepared: RunPrepared): ReadonlyMap<string, RunPrepared> {
  const before = known.get(prepared);
  if (before !== undefined) return before;
  const all = new Map(
    prepared.delegates.map((each) => [each.agentId, asPrepared(each, prepared.tools)]),
  );
  known.set(prepared, all);
  return all;
}

function asPrepared(delegate: PreparedDelegate, ofRun: readonly ToolDescriptor[]): RunPrepared {
  const { model, capabilities, limits, retry, policy, fallbacks, gatedTools, skills } = delegate;
  return create(RunPreparedSchema, {
    tools: withShared(delegate, ofRun).toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    fallbacks,
    gatedTools,
    skills,
    ...(model && { model }),
    ...(capabilities && { capabilities }),
    ...(limits && { limits }),
    ...(retry && { retry }),
    ...(policy && { policy }),
  });
}
