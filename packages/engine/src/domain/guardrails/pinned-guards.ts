import { toJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import type { Guard } from "@reeve/agent/guardrails/guard";
import { guardListOf, guardrailsSectionName } from "@reeve/agent/guardrails/guardrails-section";
import type { PinnedGuardrails, PinnedPlugin } from "@reeve/contracts/run";

/** The id of the built-in plugin that has the guards of a run. */
export const guardrailsId = guardrailsSectionName;

/** A guard of a run. */
export interface RunGuard extends Guard {
  /** Name of the rule of the operator's policy that states it. Empty: an agent does. */
  readonly policyRule: string;
  /** Id of the delegate that states it. Empty: it holds for the whole run. */
  readonly agentId: string;
  /** Whether the answers that it checks are shown only after it passed them. */
  readonly holds: boolean;
}

const known = new WeakMap<PinnedGuardrails, readonly RunGuard[]>();

/** Returns the guards of a pinned plugin, in their order. Empty: it is another plugin. */
export function guardsOf({ guardrails }: PinnedPlugin): readonly RunGuard[] {
  if (guardrails === undefined) return [];
  const before = known.get(guardrails);
  if (before !== undefined) return before;
  const guards = guardrails.sections.flatMap(({ policyRule, agentId, section }) => {
    const list = section && guardListOf(toJson(ValueSchema, section));
    // The run was prepared with sections that fit. A version that cannot read them must not go on without them.
    if (list === undefined) throw new Error("the guards of the run cannot be read by this version");
    return list.guards.map((guard) => ({ ...guard, policyRule, agentId, holds: list.holds }));
  });
  known.set(guardrails, guards);
  return guards;
}
