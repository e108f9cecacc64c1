import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { EntryChange, RegistryRequest } from "@reeve/agent/registry/change-registry";
import { changeRegistry } from "@reeve/agent/registry/change-registry";
import { shadowedEntries } from "@reeve/agent/registry/composite-catalog";
import { modelProblems, providerProblems } from "@reeve/agent/registry/registry-problems";
import type { ModelCatalog, ModelRegistry } from "@reeve/contracts/agent";
import { ModelRegistrySchema } from "@reeve/contracts/agent";
import { bucketOf } from "@reeve/contracts/channel";
import { ErrorReason } from "@reeve/contracts/error";
import type { Row } from "@reeve/jetstream/table/port";
import type { Violation } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import { listViolations, reportedViolations } from "@reeve/platform/list-violations";
import type { RegistryPorts } from "./registry-ports.ts";

const key = bucketOf(ModelRegistrySchema).key({ deployment: "default" });

/** The maximum number of attempts of a change, each after a concurrent change won. */
const maxAttempts = 20;
const maxProviders = 50;
const maxModels = 500;
/** Far below what a message may have: gateways and runtimes read the registry as one record. */
const maxBytes = 524_288;

/** Returns what is stored; an empty registry of revision 0 if nothing ever was. */
export async function readRegistry(
  ports: Pick<RegistryPorts, "registry">,
  signal: AbortSignal,
): Promise<ModelRegistry> {
  return (await ports.registry.get(key, signal))?.record ?? create(ModelRegistrySchema);
}

/** A request to change the registry. */
export interface ModelChange extends RegistryRequest {
  /** The paths of the entries in the request of the caller, for violations. */
  readonly paths: {
    provider(index: number): string;
    model(index: number): string;
  };
  /** Whether everything that is stored, and not in the request, is deleted. */
  readonly prune: boolean;
  /** Whether the change is only checked. */
  readonly validateOnly: boolean;
  /** Throws a Failure if the caller has not seen the registry, or its entry, as it is. */
  assertSeen(registry: ModelRegistry): void;
}

export interface ChangedModels {
  readonly registry: ModelRegistry;
  readonly changes: readonly EntryChange[];
  readonly warnings: readonly string[];
}

/**
 * Changes the registry, all or nothing. Throws a Failure with every violation if the request is not valid, and one of kind `conflict` if
 * the caller has not seen what it changes.
 */
export async function changeModels(
  ports: RegistryPorts,
  subject: string,
  change: ModelChange,
  signal: AbortSignal,
): Promise<ChangedModels> {
  ports.assertRoom();
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const row = await ports.registry.get(key, signal);
    const before = row?.record ?? create(ModelRegistrySchema);
    change.assertSeen(before);
    const request = change.prune ? withPruned(change, before) : change;
    const author = { subject, now: timestampFromMs(ports.clock.now()) };
    const changed = changeRegistry(before, request, author);
    const local = ports.localModels();
    assertValid(problemsOf(change, changed, local));
    const result = { ...changed, warnings: shadowedEntries(local, changed.registry) };
    if (change.validateOnly || changed.changes.length === 0) return result;
    if ((await written(ports, row, changed.registry, signal)) !== undefined) return result;
  }
  const message = `the registry of models was changed ${maxAttempts} times meanwhile; read it and retry`;
  throw new Failure("conflict", ErrorReason.REVISION_CONFLICT, message);
}

async function written(
  { registry }: Pick<RegistryPorts, "registry">,
  row: Row<ModelRegistry> | undefined,
  after: ModelRegistry,
  signal: AbortSignal,
): Promise<Row<ModelRegistry> | undefined> {
  // The record is never deleted, so that its revisions identify versions.
  return row === undefined
    ? await registry.createFirst(key, after, signal)
    : await registry.update(key, after, row.revision, signal);
}

function withPruned(request: RegistryRequest, before: ModelRegistry): RegistryRequest {
  const providers = new Set(request.providers.map(({ providerId }) => providerId));
  const models = new Set(request.models.map(({ id }) => id));
  return {
    ...request,
    deletedProviders: before.providers
      .map(({ spec }) => spec?.providerId ?? "")
      .filter((id) => !providers.has(id)),
    deletedModels: before.models.map(({ spec }) => spec?.id ?? "").filter((id) => !models.has(id)),
  };
}

function problemsOf(
  { providers, models, paths }: ModelChange,
  { registry, changes }: Pick<ChangedModels, "registry" | "changes">,
  local: ModelCatalog,
): readonly Violation[] {
  const stored = registry.providers.map(({ spec }) => spec?.providerId ?? "");
  const known = [...local.providers.map(({ name }) => name), ...stored];
  return [
    ...providers.flatMap((spec, index) => providerProblems(spec, local, paths.provider(index))),
    ...repeated(providers, ({ providerId }) => providerId).map((index) =>
      repeatedAt(`${paths.provider(index)}.provider_id`),
    ),
    ...models.flatMap((spec, index) => modelProblems(spec, known, paths.model(index))),
    ...repeated(models, ({ id }) => id).map((index) => repeatedAt(`${paths.model(index)}.id`)),
    ...orphans(registry, changes, known),
    ...sizeProblems(registry),
  ];
}

/** Returns the places of entries whose id an earlier one has. */
function repeated<Entry>(
  entries: readonly Entry[],
  idOf: (entry: Entry) => string,
): readonly number[] {
  const seen = new Set<string>();
  return entries.flatMap((entry, index) => {
    const isRepeated = seen.has(idOf(entry));
    seen.add(idOf(entry));
    return isRepeated ? [index] : [];
  });
}

function repeatedAt(field: string): Violation {
  return { field, description: "is the id of an earlier entry too", reason: "REPEATED_ID" };
}

/** Returns a violation for each deleted provider that stored models still name. */
function orphans(
  { models }: ModelRegistry,
  changes: readonly EntryChange[],
  known: readonly string[],
): readonly Violation[] {
  return changes.flatMap(({ kind, id, action }) => {
    if (kind !== "provider" || action !== "delete" || known.includes(id)) return [];
    const naming = models.flatMap(({ spec }) => (spec?.provider === id ? [spec.id] : []));
    if (naming.length === 0) return [];
    const list = naming.slice(0, 10).join(", ");
    const description = `the stored models ${list} name provider ${id}; delete or change them first`;
    return [{ field: "provider_id", description, reason: "PROVIDER_IN_USE" }];
  });
}

function sizeProblems(registry: ModelRegistry): readonly Violation[] {
  const { providers, models } = registry;
  const tooMany = [
    ...(providers.length > maxProviders ? [["providers", `${maxProviders} providers`]] : []),
    ...(models.length > maxModels ? [["models", `${maxModels} models`]] : []),
    ...(toBinary(ModelRegistrySchema, registry).length > maxBytes
      ? [["models", `${maxBytes} bytes`]]
      : []),
  ];
  return tooMany.map(([field = "", limit = ""]) => ({
    field,
    description: `the registry would have more than ${limit}; delete some entries first`,
    reason: "TOO_MANY",
  }));
}

/** Throws a Failure if a registry that a request proposes in `registry` is larger than what can be stored. */
export function assertProposable(registry: ModelRegistry): void {
  const problems = sizeProblems(registry);
  assertValid(problems.map((each) => ({ ...each, field: `registry.${each.field}` })));
}

function assertValid(violations: readonly Violation[]): void {
  if (violations.length === 0) return;
  throw new Failure("invalid", ErrorReason.INVALID_REQUEST, listViolations(violations), {
    violations: reportedViolations(violations),
  });
}
