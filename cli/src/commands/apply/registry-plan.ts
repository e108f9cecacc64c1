import type { Client, ModelRegistry, RegistryChange } from "@reeve/client";
import { ReeveError } from "@reeve/client";
import { sleep } from "@reeve/platform/async/sleep";
import type { ChangedField } from "../agents/spec-diff.ts";
import { changedEntryFields } from "../models/registry-changes.ts";
import type { FileProblem } from "./read-agent-files.ts";
import type { RegistryFiles } from "./read-registry-files.ts";

/** How long the agents wait for the server to offer the models that were stored for them. */
const maxSettleMs = 10_000;
const settleIntervalMs = 100;

/** What makes the stored models and providers equal to files. */
export interface RegistryPlan {
  readonly files: RegistryFiles;
  /** The registry of now. */
  readonly before: ModelRegistry | undefined;
  /** The registry after all changes. Undefined: the files are not valid. */
  readonly after: ModelRegistry | undefined;
  readonly changes: readonly RegistryChange[];
  readonly problems: readonly FileProblem[];
  readonly warnings: readonly string[];
}

/** Asks the server what the files would change, and what is wrong with them. Stores nothing. */
export async function planRegistry(
  reeve: Client,
  files: RegistryFiles,
  { prune, signal }: { readonly prune: boolean; readonly signal: AbortSignal },
): Promise<RegistryPlan> {
  const { registry: before } = await reeve.models.registry({ signal });
  const request = { ...requestOf(files), prune, validateOnly: true };
  try {
    const planned = await reeve.models.apply(request, { signal });
    const { registry: after, changes, warnings } = planned;
    return { files, before, after, changes, problems: [], warnings };
  } catch (error) {
    if (!(error instanceof ReeveError) || error.violations.length === 0) throw error;
    const problems = error.violations.map((violation) => ({
      file: fileOf(files, violation.field),
      ...violation,
    }));
    return { files, before, after: undefined, changes: [], problems, warnings: [] };
  }
}

/** Returns the fields in which an entry changes. */
export function fieldsOfChange(
  change: RegistryChange,
  { before, after }: Pick<RegistryPlan, "before" | "after">,
): readonly ChangedField[] {
  return change.action === "update" ? changedEntryFields(change, before, after) : [];
}

/**
 * Stores what is new or different, before the agents that name it. Returns the revision of the
 * registry. Throws a ReeveError if the registry is not the planned one any more.
 */
export async function storeEntries(
  reeve: Client,
  { files, before, changes }: RegistryPlan,
  signal: AbortSignal,
): Promise<bigint> {
  const revision = before?.revision ?? 0n;
  const stored = changes.filter(({ action }) => action !== "delete");
  if (stored.length === 0) return revision;
  // Also 0: what another client stored first was not shown.
  const request = { ...requestOf(files), prune: false, revision, seenRevision: revision };
  const { registry } = await reeve.models.apply(request, { signal });
  return registry?.revision ?? revision;
}

/**
 * Makes the planned deletions, after the agents that named what is deleted were changed. Does nothing if the plan has none. Throws a
 * ReeveError if the registry is not at the revision any more.
 */
export async function deleteEntries(
  reeve: Client,
  { files, changes }: RegistryPlan,
  { revision, signal }: { readonly revision: bigint; readonly signal: AbortSignal },
): Promise<void> {
  if (!changes.some(({ action }) => action === "delete")) return;
  const seen = { revision, seenRevision: revision };
  await reeve.models.apply({ ...requestOf(files), prune: true, ...seen }, { signal });
}

function requestOf({ providers, models }: RegistryFiles) {
  return {
    providers: providers.map(({ spec }) => spec),
    models: models.map(({ spec }) => spec),
  };
}

/**
 * Waits until the server offers what was stored: for a moment, it may validate agents with what it offered before. An entry that a file of
 * the runtimes hides is there already.
 */
export async function untilOffered(
  reeve: Client,
  { changes }: RegistryPlan,
  signal: AbortSignal,
): Promise<void> {
  const stored = changes.filter(({ action }) => action !== "delete");
  if (stored.length === 0) return;
  for (let waitedMs = 0; waitedMs < maxSettleMs; waitedMs += settleIntervalMs) {
    const { models, providers } = await reeve.listModels({ signal });
    const known = new Set([
      ...models.map(({ id }) => `model ${id}`),
      ...providers.map(({ name }) => `provider ${name}`),
    ]);
    if (stored.every(({ kind, id }) => known.has(`${kind} ${id}`))) return;
    await sleep(settleIntervalMs, signal);
  }
}

/** Returns the file of the entry that a path of the request is about. Empty: it is about all of them. */
function fileOf({ providers, models }: RegistryFiles, field: string): string {
  const [, list, index = ""] = /^(providers|models)\[(\d+)\]/.exec(field) ?? [];
  const entries = list === "providers" ? providers : models;
  return entries[Number(index)]?.file ?? "";
}
