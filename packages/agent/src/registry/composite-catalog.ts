import { create } from "@bufbuild/protobuf";
import type {
  ModelCatalog,
  ModelRegistry,
  ModelSpec,
  ProviderDescriptor,
  ProviderSpec,
} from "@reeve/contracts/agent";
import {
  ModelCatalogSchema,
  ModelSpecSchema,
  ProviderDescriptorSchema,
} from "@reeve/contracts/agent";

/**
 * Returns the models and providers of two sources: those of the runtimes' files, and those that are stored. A local id wins over the
 * same stored one. Returns the local catalog itself if the runtimes that wrote it use no stored models.
 */
export function compositeCatalog(
  local: ModelCatalog,
  stored: Pick<ModelRegistry, "models" | "providers"> | undefined,
): ModelCatalog {
  const rules = local.storedProviders;
  if (rules === undefined || stored === undefined) return local;
  const providers = stored.providers
    .flatMap(({ spec }) => spec ?? [])
    .filter(({ providerId }) => !hasProvider(local, providerId))
    .map((spec) => storedDescriptor(spec, rules.apis));
  const models = stored.models
    .flatMap(({ spec }) => spec ?? [])
    .filter(({ id }) => !hasModel(local, id))
    .map(storedModel);
  return create(ModelCatalogSchema, {
    ...local,
    models: [...local.models, ...models],
    providers: [...local.providers, ...providers],
  });
}

/** Returns what is stored, and has no effect because a file of the runtimes has the same id. */
export function shadowedEntries(
  local: Pick<ModelCatalog, "models" | "providers">,
  stored: Pick<ModelRegistry, "models" | "providers">,
): readonly string[] {
  const providers = stored.providers.flatMap(({ spec }) =>
    spec !== undefined && hasProvider(local, spec.providerId)
      ? [`provider ${spec.providerId} has no effect: the runtimes have their own with this id`]
      : [],
  );
  const models = stored.models.flatMap(({ spec }) =>
    spec !== undefined && hasModel(local, spec.id)
      ? [`model ${spec.id} has no effect: the runtimes have their own with this id`]
      : [],
  );
  return [...providers, ...models];
}

function hasProvider({ providers }: Pick<ModelCatalog, "providers">, id: string): boolean {
  return providers.some(({ name }) => name === id);
}

function hasModel({ models }: Pick<ModelCatalog, "models">, modelId: string): boolean {
  return models.some(({ id }) => id === modelId);
}

function storedDescriptor(
  { providerId, api }: ProviderSpec,
  apis: readonly ProviderDescriptor[],
): ProviderDescriptor {
  const ofApi =
    apis.find(({ name }) => name === apiOf({ api })) ?? create(ProviderDescriptorSchema);
  return create(ProviderDescriptorSchema, { ...ofApi, name: providerId, isStored: true });
}

function storedModel(spec: ModelSpec): ModelSpec {
  const { upstreamName, modalities } = spec;
  return create(ModelSpecSchema, {
    ...spec,
    upstreamName: upstreamName || spec.id,
    modalities: modalities.length > 0 ? modalities : ["text"],
    isStored: true,
  });
}

/** Returns the API of a provider. */
export function apiOf({ api }: Pick<ProviderSpec, "api">): string {
  return api || "chat";
}
