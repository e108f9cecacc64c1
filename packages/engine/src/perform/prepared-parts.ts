import type { MessageInitShape } from "@bufbuild/protobuf";
import type { CallerPolicy } from "@reeve/agent/policy/caller-policy";
import type { ResolvedAgent } from "@reeve/agent/resolve/resolved-agent";
import type { ResolvedModel } from "@reeve/agent/resolve/resolve-model";
import type { ProviderCapabilities } from "@reeve/contracts/agent";
import type { FallbackModelSchema, PolicyDecisionSchema } from "@reeve/contracts/run";

/** The maximum number of things of a decision that the log lists. */
const maxWithheld = 200;

/** Returns what the operator's policy decided for an agent, as the log records it. */
export function decisionOf(
  { rules, permissions }: CallerPolicy,
  { withheld, network }: ResolvedAgent,
): MessageInitShape<typeof PolicyDecisionSchema> {
  return {
    rules: [...rules],
    withheld: withheld
      .slice(0, maxWithheld)
      .map(({ kind, name, rule, tool = "" }) => ({ kind, name, rule, tool })),
    networkAllow: [...network],
    permissions: [...permissions],
  };
}

/** Returns the capabilities that are registered for the model, or else those of its provider. */
export function capabilitiesOf({
  model,
  provider,
}: ResolvedModel): ProviderCapabilities | undefined {
  const ofProvider = provider.capabilities;
  if (model.capabilities === undefined) return ofProvider;
  // What only the API decides holds for every model.
  const temperature = (model.capabilities.temperature ?? true) && (ofProvider?.temperature ?? true);
  return { ...model.capabilities, temperature };
}

/** Returns the models that take over, as the log records them. */
export function fallbacksOf({
  fallbacks,
}: Pick<ResolvedAgent, "fallbacks">): MessageInitShape<typeof FallbackModelSchema>[] {
  return fallbacks.map((fallback) => {
    const capabilities = capabilitiesOf(fallback);
    return { model: fallback.model, ...(capabilities && { capabilities }) };
  });
}
