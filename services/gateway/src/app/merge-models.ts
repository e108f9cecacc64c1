import { create } from "@bufbuild/protobuf";
import type { ModelCatalog } from "@reeve/contracts/agent";
import { ModelCatalogSchema } from "@reeve/contracts/agent";

/** Merges the model catalogs of all runtimes into one. */
export function mergeModels(catalogs: readonly ModelCatalog[]): ModelCatalog {
  const maxima = catalogs.find((catalog) => catalog.maxima !== undefined)?.maxima;
  return create(ModelCatalogSchema, {
    models: catalogs.flatMap(({ models }) => models),
    providers: catalogs.flatMap(({ providers }) => providers),
    ...(maxima && { maxima }),
  });
}
