import type { CallerPolicy } from "@reeve/agent/policy/caller-policy";
import { policyFor } from "@reeve/agent/policy/caller-policy";
import { withheldDestination } from "@reeve/agent/policy/apply-policy";
import { runContextOf, starterOf } from "@reeve/agent/resolve/resolve-agent";
import type { RunState } from "../domain/state/run-state.ts";
import type { RunPorts } from "../ports/run-ports.ts";

/**
 * Returns what the operator's policy of now decides for the run, whichever of its subtasks acts. It only withholds more: what the
 * run was prepared without stays away.
 */
export function policyNow({ head: { created } }: RunState, ports: RunPorts): CallerPolicy {
  const caller = created ?? { tenant: "", startedByRoles: [], threadId: "" };
  return policyFor(ports.policy(), { ...starterOf(caller), context: runContextOf(caller) });
}

/** Returns the destinations that a call may reach: those of the run when it was prepared, as far as the policy of now allows. */
export function networkOf(state: RunState, policy: CallerPolicy): readonly string[] {
  const { created, prepared } = state.head;
  const atStart = prepared?.policy?.networkAllow ?? created?.spec?.deepAgent?.network?.allow ?? [];
  return atStart.filter((text) => withheldDestination(policy, text) === undefined);
}
