import { withheldModel } from "@reeve/agent/policy/caller-policy";
import type { ModelSpec } from "@reeve/contracts/agent";
import type { RunState } from "../../domain/state/run-state.ts";
import type { ModelProvider } from "../../ports/model-provider.ts";
import { ModelFailure } from "../../ports/model-provider.ts";
import type { RunPorts } from "../../ports/run-ports.ts";
import { policyNow } from "../policy-now.ts";

/** Throws a ModelFailure if the operator's policy of now withholds the model. */
export function assertModelAllowed(state: RunState, model: ModelSpec, ports: RunPorts): void {
  const withheld = withheldModel(policyNow(state, ports), model, ports.catalogs().models.models);
  if (withheld !== undefined) throw new ModelFailure("withheld", withheld.reason);
}

/**
 * Returns the provider of a model. Throws a ModelFailure if this worker does not have it: another one may, unless the provider was stored,
 * and is deleted.
 */
export async function providerOf(
  { provider: name, hasStoredProvider }: ModelSpec,
  ports: RunPorts,
  signal: AbortSignal,
): Promise<ModelProvider> {
  const provider = ports.provider(name);
  if (provider !== undefined) return provider;
  if (hasStoredProvider && ports.refreshModels !== undefined) {
    // The worker that prepared the run may have seen more of the registry.
    const isRead = await ports.refreshModels(signal);
    const found = ports.provider(name);
    if (found !== undefined) return found;
    if (isRead) {
      throw new ModelFailure(
        "provider_removed",
        `the stored provider ${name} was deleted; store it again, and retry the run`,
      );
    }
  }
  throw new ModelFailure(
    "not_configured",
    `provider ${name} is not configured at worker ${ports.worker}; configure it, or cancel the run`,
  );
}
