import type { CollectionRecord } from "@reeve/contracts/extensions/knowledge";
import type { Objects, StoredObject } from "@reeve/jetstream/objects/port";
import type { Table } from "@reeve/jetstream/table/port";
import { Failure } from "@reeve/platform/failure";
import { keyOf, objectsOf } from "./records/collection-record.ts";

/** Longer than any request takes: an object that is older, and that no collection has, is of a process that died. */
const orphanedAfterMs = 3_600_000;

interface SweepPorts {
  readonly table: Pick<Table<CollectionRecord>, "get">;
  readonly objects: Pick<Objects, "list" | "removeUnchanged" | "cleanUp">;
}

/**
 * Removes the objects of more than an hour ago that no collection names: what processes that died, or removals that failed, have left. Leaves
 * those of collections that cannot be read.
 */
export async function sweepTexts(
  { table, objects }: SweepPorts,
  nowMs: number,
  signal: AbortSignal,
): Promise<void> {
  await objects.cleanUp(orphanedAfterMs, signal);
  const old = (await objects.list(signal)).filter(
    ({ storedAt }) => storedAt.getTime() < nowMs - orphanedAfterMs,
  );
  // A row that is read after the list names every old object that it will ever name.
  for (const [folder, found] of Map.groupBy(old, folderOf)) {
    const [tenant = "", collection = ""] = folder.split("/");
    const named = await namedBy(table, keyOf(tenant, collection), signal);
    const orphans = named === undefined ? [] : found.filter(({ name }) => !named.has(name));
    for (const orphan of orphans) await objects.removeUnchanged(orphan, signal);
  }
}

/** Returns the objects that a collection names. Undefined: it cannot be read. */
async function namedBy(
  table: SweepPorts["table"],
  key: string,
  signal: AbortSignal,
): Promise<ReadonlySet<string> | undefined> {
  try {
    const row = await table.get(key, signal);
    return new Set(row?.record.documents.flatMap(objectsOf) ?? []);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

function folderOf({ name }: StoredObject): string {
  return name.slice(0, name.lastIndexOf("/"));
}
