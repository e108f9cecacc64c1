import { create } from "@bufbuild/protobuf";
import type { ModelCatalog, ModelSpec, ProviderDescriptor } from "@reeve/contracts/agent";
import { ModelSpecSchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

export interface ResolvedModel {
  readonly model: ModelSpec;
  readonly provider: ProviderDescriptor;
}

/**
 * The model that `reference` names: an id of the registry, or `provider:model`. Throws a Failure with reason MODEL_NOT_FOUND
 * or PROVIDER_NOT_FOUND.
 */
export function resolveModel(
  { model: reference }: { readonly model: string },
  catalog: ModelCatalog,
): ResolvedModel {
  const registered = catalog.models.filter(({ id }) => id === reference);
  if (registered.length > 1) {
    throw notFound(`the model reference "${reference}" is ambiguous: the registry has it twice`);
  }
  const model = registered[0] ?? referenced(reference, catalog);
  const provider = catalog.providers.find(({ name }) => name === model.provider);
  if (provider === undefined) {
    throw new Failure(
      "precondition",
      ErrorReason.PROVIDER_NOT_FOUND,
      `model "${reference}" needs the provider "${model.provider}", which is not configured; configured are: ${names(catalog.providers.map(({ name }) => name))}`,
    );
  }
  const { upstreamNames } = provider;
  if (upstreamNames.length > 0 && !upstreamNames.includes(model.upstreamName)) {
    throw notFound(
      `provider "${provider.name}" has no model "${model.upstreamName}"; it has: ${names(upstreamNames)}`,
    );
  }
  return { model, provider };
}

function referenced(reference: string, { models }: ModelCatalog): ModelSpec {
  const separator = reference.indexOf(":");
  if (separator <= 0 || separator === reference.length - 1) {
    throw notFound(
      `there is no model "${reference}"; name one of the registry (${names(models.map(({ id }) => id))}) or give a reference provider:model`,
    );
  }
  const provider = reference.slice(0, separator);
  const upstreamName = reference.slice(separator + 1);
  const known = models.find(
    (candidate) => candidate.provider === provider && candidate.upstreamName === upstreamName,
  );
  return known ?? create(ModelSpecSchema, { id: reference, provider, upstreamName });
}

function notFound(message: string): Failure {
  return new Failure("precondition", ErrorReason.MODEL_NOT_FOUND, message);
}

function names(all: readonly string[]): string {
  return all.length === 0 ? "none" : all.join(", ");
}
