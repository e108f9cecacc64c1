import type { AgentSpec } from "@reeve/contracts/agent";
import type { ResolvedModel } from "./resolve-model.ts";

/** Returns a warning if a spec sets a temperature that a model, or its provider, does not accept. */
export function temperatureWarning(
  { temperature }: AgentSpec,
  { model, provider }: ResolvedModel,
): readonly string[] {
  const accepts =
    (model.capabilities?.temperature ?? true) && (provider.capabilities?.temperature ?? true);
  if (temperature === undefined || accepts) return [];
  return [
    `temperature: the model "${model.id}" of the provider ${provider.name} accepts none, so it is not sent`,
  ];
}
