import { create, fromBinary } from "@bufbuild/protobuf";
import { bucketOf } from "@reeve/contracts/channel";
import { ErrorReason } from "@reeve/contracts/error";
import type { Collection, CollectionRecord, Passage } from "@reeve/contracts/extensions/knowledge";
import {
  CollectionRecordSchema,
  CollectionSchema,
  DocumentTextSchema,
  PassageSchema,
} from "@reeve/contracts/extensions/knowledge";
import type { Objects } from "@reeve/jetstream/objects/port";
import type { Row, Table } from "@reeve/jetstream/table/port";
import { Failure } from "@reeve/platform/failure";
import { IndexCache } from "./index/index-cache.ts";

/** Who reads or changes a collection. */
export interface KnowledgeUser {
  readonly tenant: string;
  readonly subject: string;
  /** Whether the user may see and change every collection of the tenant. Does not permit to search it. Default: false. */
  readonly isOperator?: boolean;
}

/** What a search looks for. */
export interface KnowledgeQuery {
  readonly collectionIds: readonly string[];
  readonly query: string;
  /** The maximum number of passages. */
  readonly limit: number;
}

/** The stores of collections. */
export interface KnowledgeStores {
  readonly table: Table<CollectionRecord>;
  readonly objects: Objects;
}

const maxCachedTextBytes = 128 * 1_048_576;
const maxAttempts = 5;

/** The collections of tenants, for those who search them. */
export class Collections {
  protected readonly table: Table<CollectionRecord>;
  protected readonly objects: Objects;
  readonly #indexes: IndexCache;

  constructor({ table, objects }: KnowledgeStores) {
    this.table = table;
    this.objects = objects;
    this.#indexes = new IndexCache(
      (object, signal) => this.#textOf(object, signal),
      maxCachedTextBytes,
    );
  }

  /**
   * Returns the passages of collections that have a word of the query, best match first. Finds every document that was added before the
   * call. Throws a Failure of kind `not_found` if the user may not read one of the collections, or if it does not exist.
   */
  async search(
    user: KnowledgeUser,
    { collectionIds, query, limit }: KnowledgeQuery,
    signal: AbortSignal,
  ): Promise<readonly Passage[]> {
    const found: { readonly rank: number; readonly passage: Passage }[] = [];
    for (const collectionId of new Set(collectionIds)) {
      const matches = await this.#searchOne(user, { collectionId, query, limit }, signal);
      found.push(...matches.map((passage, rank) => ({ rank, passage })));
    }
    // Scores depend on the size of a collection, so ranks decide between collections.
    const ordered = found.toSorted((a, b) => a.rank - b.rank || b.passage.score - a.passage.score);
    return ordered.slice(0, limit).map(({ passage }) => passage);
  }

  /** Returns a collection that the user may search. Throws a Failure of kind `not_found` otherwise. */
  async readable(
    user: KnowledgeUser,
    collectionId: string,
    signal: AbortSignal,
  ): Promise<Collection> {
    return shown((await this.readableRow(user, collectionId, signal)).record);
  }

  protected async readableRow(
    user: KnowledgeUser,
    collectionId: string,
    signal: AbortSignal,
  ): Promise<Row<CollectionRecord>> {
    const row = await this.row(user, collectionId, signal);
    if (row !== undefined && mayRead(user, row.record)) return row;
    throw collectionNotFound(collectionId);
  }

  protected async row(
    { tenant }: KnowledgeUser,
    collection: string,
    signal: AbortSignal,
  ): Promise<Row<CollectionRecord> | undefined> {
    if (!validId.test(collection)) return undefined;
    return await this.table.get(keyOf(tenant, collection), signal);
  }

  async #searchOne(
    user: KnowledgeUser,
    {
      collectionId,
      query,
      limit,
    }: Omit<KnowledgeQuery, "collectionIds"> & { readonly collectionId: string },
    signal: AbortSignal,
  ): Promise<readonly Passage[]> {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const row = await this.readableRow(user, collectionId, signal);
      const matches = await this.#indexes.search(row, query, limit, signal);
      if (matches === undefined) continue;
      return matches.map((each) => create(PassageSchema, { ...each, collectionId }));
    }
    throw new Failure(
      "unavailable",
      ErrorReason.UNAVAILABLE,
      `collection ${collectionId} changes too often to be searched, or the text of a document is missing from the store; try again, and add the documents again if this repeats`,
    );
  }

  async #textOf(object: string, signal: AbortSignal) {
    const chunks = await this.objects.read(object, signal);
    if (chunks === undefined) return undefined;
    return fromBinary(DocumentTextSchema, Buffer.concat(await Array.fromAsync(chunks)));
  }
}

export const validId = /^[a-z0-9][a-z0-9-]{0,62}$/;

export function keyOf(tenant: string, collection: string): string {
  return bucketOf(CollectionRecordSchema).key({ tenant, collection });
}

/** Returns a collection as clients see it: with its counts. */
export function shown({ collection, documents }: CollectionRecord): Collection {
  return create(CollectionSchema, {
    ...(collection ?? create(CollectionSchema)),
    documentCount: documents.length,
    textBytes: textBytesOf(documents),
  });
}

export function textBytesOf(documents: CollectionRecord["documents"]): bigint {
  return documents.reduce((sum, { document }) => sum + (document?.textBytes ?? 0n), 0n);
}

function mayRead({ subject }: KnowledgeUser, { collection }: CollectionRecord): boolean {
  if (collection === undefined) return false;
  const { readers, createdBy } = collection;
  return readers.length === 0 || createdBy === subject || readers.includes(subject);
}

/** Whether a user may know of a collection, and of its documents. */
export function maySee(user: KnowledgeUser, record: CollectionRecord): boolean {
  return user.isOperator === true || mayRead(user, record);
}

export function collectionNotFound(collectionId: string): Failure {
  const message = `collection ${collectionId.slice(0, 100)} not found, or not for you; list the collections for their ids`;
  return new Failure("not_found", ErrorReason.COLLECTION_NOT_FOUND, message, {
    metadata: { collection_id: collectionId.slice(0, 100) },
  });
}
