import { create, equals } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { ModelRegistry, ModelSpec, ProviderSpec } from "@reeve/contracts/agent";
import {
  ModelRegistrySchema,
  ModelSpecSchema,
  ProviderSpecSchema,
  StoredModelSchema,
  StoredProviderSchema,
} from "@reeve/contracts/agent";
import { apiOf } from "./composite-catalog.ts";

/** What becomes of the entries of a registry. Ids that are in neither list stay. */
export interface RegistryRequest {
  readonly providers: readonly ProviderSpec[];
  readonly models: readonly ModelSpec[];
  readonly deletedProviders: readonly string[];
  readonly deletedModels: readonly string[];
}

/** Who changes a registry, and when. */
export interface ChangeAuthor {
  readonly subject: string;
  readonly now: Timestamp;
}

/** A change of one entry. */
export interface EntryChange {
  readonly kind: "provider" | "model";
  readonly id: string;
  readonly action: "create" | "update" | "delete";
}

/**
 * Returns the registry after a request, and what it changed. An entry that is stored like that keeps its revision. A registry in which
 * nothing changed keeps its own.
 */
export function changeRegistry(
  before: ModelRegistry,
  request: RegistryRequest,
  { subject, now }: ChangeAuthor,
): { readonly registry: ModelRegistry; readonly changes: readonly EntryChange[] } {
  const stamp = { revision: before.revision + 1n, updatedAt: now, updatedBy: subject };
  const providers = changeEntries(
    new Map(before.providers.map((each) => [each.spec?.providerId ?? "", each])),
    new Map(request.providers.map((spec) => [spec.providerId, { ...spec, api: apiOf(spec) }])),
    request.deletedProviders,
    {
      isSame: ({ spec }, given) => spec !== undefined && equals(ProviderSpecSchema, spec, given),
      entryOf: (spec) => create(StoredProviderSchema, { spec, ...stamp }),
    },
  );
  const models = changeEntries(
    new Map(before.models.map((each) => [each.spec?.id ?? "", each])),
    new Map(request.models.map((spec) => [spec.id, normalized(spec)])),
    request.deletedModels,
    {
      isSame: ({ spec }, given) => spec !== undefined && equals(ModelSpecSchema, spec, given),
      entryOf: (spec) => create(StoredModelSchema, { spec, ...stamp }),
    },
  );
  const changes = [
    ...providers.changes.map((each) => ({ kind: "provider", ...each }) as const),
    ...models.changes.map((each) => ({ kind: "model", ...each }) as const),
  ];
  if (changes.length === 0) return { registry: before, changes };
  const registry = create(ModelRegistrySchema, {
    revision: stamp.revision,
    providers: [...providers.entries],
    models: [...models.entries],
  });
  return { registry, changes };
}

/** Returns a model as it is stored. */
function normalized(spec: ModelSpec): ModelSpec {
  return {
    ...spec,
    upstreamName: spec.upstreamName || spec.id,
    modalities: spec.modalities.length > 0 ? spec.modalities : ["text"],
    isStored: false,
    hasStoredProvider: false,
  };
}

interface EntryKind<Spec, Entry> {
  isSame(entry: Entry, given: Spec): boolean;
  entryOf(spec: Spec): Entry;
}

function changeEntries<Spec, Entry>(
  before: ReadonlyMap<string, Entry>,
  given: ReadonlyMap<string, Spec>,
  deleted: readonly string[],
  { isSame, entryOf }: EntryKind<Spec, Entry>,
): {
  readonly entries: readonly Entry[];
  readonly changes: readonly Pick<EntryChange, "id" | "action">[];
} {
  const after = new Map(before);
  const changes: Pick<EntryChange, "id" | "action">[] = [];
  for (const id of deleted) {
    if (after.delete(id)) changes.push({ id, action: "delete" });
  }
  for (const [id, spec] of given) {
    const known = before.get(id);
    if (known !== undefined && isSame(known, spec)) continue;
    after.set(id, entryOf(spec));
    changes.push({ id, action: known === undefined ? "create" : "update" });
  }
  const inOrder = [...after].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return {
    entries: inOrder.map(([, entry]) => entry),
    changes: changes.toSorted((one, other) => (one.id < other.id ? -1 : 1)),
  };
}
