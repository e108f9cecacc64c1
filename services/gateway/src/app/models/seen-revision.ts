import type { ApplyModelRegistryRequest, ModelRegistry } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

/** The kind and the id of an entry of the registry. */
export interface EntryName {
  readonly kind: "model" | "provider";
  readonly id: string;
}

/** Returns the revision of an entry; 0 if it is not stored. */
function revisionOf(
  { models, providers }: Pick<ModelRegistry, "models" | "providers">,
  { kind, id }: EntryName,
): bigint {
  const entry =
    kind === "model"
      ? models.find(({ spec }) => spec?.id === id)
      : providers.find(({ spec }) => spec?.providerId === id);
  return entry?.revision ?? 0n;
}

/** Throws a Failure if an entry has another revision than its caller has seen. 0: any. */
export function assertSeen(registry: ModelRegistry, name: EntryName, seen: bigint): void {
  const revision = revisionOf(registry, name);
  if (seen !== 0n && seen !== revision) throw conflict(`${name.kind} ${name.id}`, revision);
}

/** Throws a Failure if an entry is not stored, or has another revision. */
export function assertStored(registry: ModelRegistry, name: EntryName, seen: bigint): void {
  const { kind, id } = name;
  if (revisionOf(registry, name) === 0n) {
    const reason = kind === "model" ? ErrorReason.MODEL_NOT_FOUND : ErrorReason.PROVIDER_NOT_FOUND;
    const message = `${kind} ${id} is not stored; those of the runtimes' files are changed there`;
    throw new Failure("not_found", reason, message, { metadata: { [`${kind}_id`]: id } });
  }
  assertSeen(registry, name, seen);
}

/**
 * Throws a Failure if the registry has another revision than its caller has seen; 0: it had none. Without a revision that was seen, the
 * one that the change is based on counts, of which 0 is any.
 */
export function assertRegistrySeen(
  { revision }: ModelRegistry,
  { seenRevision, revision: base }: Pick<ApplyModelRegistryRequest, "seenRevision" | "revision">,
): void {
  const seen = seenRevision ?? (base === 0n ? undefined : base);
  if (seen !== undefined && seen !== revision) throw conflict("the registry of models", revision);
}

function conflict(what: string, revision: bigint): Failure {
  const now = revision === 0n ? "is not stored" : `is now at revision ${revision}`;
  return new Failure(
    "conflict",
    ErrorReason.REVISION_CONFLICT,
    `${what} was changed concurrently and ${now}; read it and retry`,
    { metadata: { revision: String(revision) } },
  );
}
