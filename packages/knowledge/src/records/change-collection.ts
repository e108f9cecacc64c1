import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ErrorReason } from "@reeve/contracts/error";
import type { CollectionRecord } from "@reeve/contracts/extensions/knowledge";
import { CollectionRecordSchema, CollectionSchema } from "@reeve/contracts/extensions/knowledge";
import type { Row, Table } from "@reeve/jetstream/table/port";
import { Failure } from "@reeve/platform/failure";
import { collectionNotFound, keyOf, validId } from "./collection-record.ts";
import type { KnowledgeUser } from "./knowledge-user.ts";
import { maySee } from "./knowledge-user.ts";

const maxAttempts = 10;

/** A collection of a user. */
export interface CollectionOfUser {
  readonly user: KnowledgeUser;
  readonly collectionId: string;
}

type Rows = Table<CollectionRecord>;

/** Returns a collection of which the user may know. Throws a Failure of kind `not_found` otherwise. */
export async function visibleRow(
  table: Pick<Rows, "get">,
  { user, collectionId }: CollectionOfUser,
  signal: AbortSignal,
): Promise<Row<CollectionRecord>> {
  if (!validId.test(collectionId)) throw collectionNotFound(collectionId);
  const row = await table.get(keyOf(user.tenant, collectionId), signal);
  if (row === undefined || !maySee(user, row.record)) throw collectionNotFound(collectionId);
  return row;
}

/** As `visibleRow`. Throws a Failure unless the user created the collection or is an operator. */
export async function changeableRow(
  table: Pick<Rows, "get">,
  { user, collectionId }: CollectionOfUser,
  signal: AbortSignal,
): Promise<Row<CollectionRecord>> {
  const row = await visibleRow(table, { user, collectionId }, signal);
  if (user.isOperator === true || row.record.collection?.createdBy === user.subject) return row;
  const message = `collection ${collectionId} can be changed by its creator and by operators only`;
  throw new Failure("denied", ErrorReason.PERMISSION_DENIED, message, {
    metadata: { collection_id: collectionId },
  });
}

/** Repeats a change until no other writer is faster. `change` returns undefined if one was. */
export async function changeCollection<Result>(
  table: Pick<Rows, "get">,
  of: CollectionOfUser,
  signal: AbortSignal,
  change: (row: Row<CollectionRecord>) => Promise<Result | undefined>,
): Promise<Result> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const result = await change(await changeableRow(table, of, signal));
    if (result !== undefined) return result;
  }
  const message = `collection ${of.collectionId} is being changed by many callers at once; try again`;
  throw new Failure("unavailable", ErrorReason.UNAVAILABLE, message);
}

/** Replaces the documents of a collection. Returns the new row, or undefined if another writer was faster. */
export async function replaceDocuments(
  table: Pick<Rows, "update">,
  { key, record, revision }: Row<CollectionRecord>,
  { documents, nowMs }: Pick<CollectionRecord, "documents"> & { readonly nowMs: number },
  signal: AbortSignal,
): Promise<Row<CollectionRecord> | undefined> {
  const updatedAt = timestampFromMs(nowMs);
  const collection = { ...(record.collection ?? create(CollectionSchema)), updatedAt };
  const after = create(CollectionRecordSchema, { ...record, collection, documents });
  return await table.update(key, after, revision, signal);
}
