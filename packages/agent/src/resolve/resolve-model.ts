import { create, equals } from "@bufbuild/protobuf";
import type { ModelCatalog, ModelSpec, ProviderDescriptor } from "@reeve/contracts/agent";
import { ModelSpecSchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { withListPrice } from "./list-price.ts";
import { remoteProvider } from "./remote-endpoint.ts";

export interface ResolvedModel {
  readonly model: ModelSpec;
  readonly provider: ProviderDescriptor;
}

/**
 * Returns the model that `reference` names: an id of the registry, or `provider:model`. Throws a Failure with reason
 * MODEL_NOT_FOUND, PROVIDER_NOT_FOUND, or, for a reference that matches several different models, AMBIGUOUS_MODEL_REFERENCE; its
 * violation has the path of the field that names the model. A model without a price in the registry has its list price, if that is
 * built in. Only an agent with an endpoint has a remote agent as its model.
 */
export function resolveModel(
  { model: reference, endpoint }: { readonly model: string; readonly endpoint?: unknown },
  catalog: ModelCatalog,
  field = "model",
): ResolvedModel {
  const unresolved = refusalAt(field);
  const [registered, another] = catalog.models.filter(({ id }) => id === reference);
  if (another !== undefined) {
    throw unresolved(
      "AMBIGUOUS_MODEL_REFERENCE",
      `the model reference "${reference}" is ambiguous: the registry has two models with that id; give each model a unique id`,
    );
  }
  const named = registered ?? referenced(reference, catalog, unresolved);
  if (named.provider === remoteProvider && endpoint === undefined) {
    throw unresolved(
      "PROVIDER_NOT_FOUND",
      `"${reference}" is no model, but an agent elsewhere; create an agent with this address as endpoint.url, and run it, or name it as a delegate`,
    );
  }
  const provider = catalog.providers.find(({ name }) => name === named.provider);
  if (provider === undefined) {
    throw unresolved(
      "PROVIDER_NOT_FOUND",
      `model "${reference}" needs the provider "${named.provider}", which is not configured; the configured providers are: ${names(catalog.providers.map(({ name }) => name).filter((name) => name !== remoteProvider))}`,
    );
  }
  const { upstreamNames } = provider;
  if (upstreamNames.length > 0 && !upstreamNames.includes(named.upstreamName)) {
    throw unresolved(
      "MODEL_NOT_FOUND",
      `provider "${provider.name}" has no model "${named.upstreamName}"; it has: ${names(upstreamNames)}`,
    );
  }
  // What an agent elsewhere reads is its own affair.
  const isRemote = provider.name === remoteProvider;
  const readable = isRemote ? { ...named, modalities: [...provider.modalities] } : named;
  const model = withListPrice(readable, provider);
  return { model: provider.isStored ? { ...model, hasStoredProvider: true } : model, provider };
}

function referenced(
  reference: string,
  { models }: ModelCatalog,
  unresolved: ReturnType<typeof refusalAt>,
): ModelSpec {
  const separator = reference.indexOf(":");
  if (reference === "default") {
    throw unresolved(
      "MODEL_NOT_FOUND",
      'there is no model "default"; set OPENAI_API_KEY, ANTHROPIC_API_KEY, or REEVE_SCRIPTS of the runtime, or register one with this id with reeve models apply or in the file of REEVE_MODELS',
    );
  }
  if (separator <= 0 || separator === reference.length - 1) {
    throw unresolved(
      "MODEL_NOT_FOUND",
      `model "${reference}" does not exist; use an id of the registry (${names(models.map(({ id }) => id))}) or a reference of the form provider:model`,
    );
  }
  const provider = reference.slice(0, separator);
  const upstreamName = reference.slice(separator + 1);
  const [known, ...others] = models.filter(
    (candidate) => candidate.provider === provider && candidate.upstreamName === upstreamName,
  );
  if (known === undefined)
    return create(ModelSpecSchema, { id: reference, provider, upstreamName });
  const { id, isStored } = known;
  const isSame = (other: ModelSpec) => equals(ModelSpecSchema, { ...other, id, isStored }, known);
  if (others.every(isSame)) return known;
  const ids = names([known, ...others].map(({ id }) => id));
  throw unresolved(
    "AMBIGUOUS_MODEL_REFERENCE",
    `the model reference "${reference}" is ambiguous: it matches ${ids} of the registry; use one of these ids`,
  );
}

type Rule = "MODEL_NOT_FOUND" | "PROVIDER_NOT_FOUND" | "AMBIGUOUS_MODEL_REFERENCE";

function refusalAt(field: string): (rule: Rule, message: string) => Failure {
  return (rule, message) =>
    new Failure("precondition", ErrorReason[rule], message, {
      violations: [{ field, description: message, reason: rule }],
    });
}

function names(all: readonly string[]): string {
  return all.length === 0 ? "none" : all.join(", ");
}
