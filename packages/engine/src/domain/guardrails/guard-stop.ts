import type { PluginHookFinished } from "@reeve/contracts/run";
import { GuardAction } from "@reeve/contracts/run";
import { nameOfGuard } from "@reeve/run/guardrails/guard-verdict";
import type { PluginStop } from "../plugins/plugin-state.ts";

/** The constant of the error of a run that a guard ends. */
export const guardrailTripped = "guardrail_tripped";

/** Returns why a guard ends the run. Undefined: none does. */
export function guardStop({ guards }: Pick<PluginHookFinished, "guards">): PluginStop | undefined {
  const tripped = guards.find(({ action }) => action === GuardAction.STOP);
  if (tripped === undefined) return undefined;
  const message = `${nameOfGuard(tripped)} stopped the run: ${tripped.reason}`;
  return { error: guardrailTripped, message };
}
