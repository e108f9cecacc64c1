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

/** Returns a provider by its name. Throws a ModelFailure if this worker does not have it. */
export function providerOf(name: string, ports: RunPorts): ModelProvider {
  const provider = ports.provider(name);
  if (provider !== undefined) return provider;
  throw new ModelFailure(
    "not_configured",
    `provider ${name} is not configured at worker ${ports.worker}; configure it, or cancel the run`,
  );
}
