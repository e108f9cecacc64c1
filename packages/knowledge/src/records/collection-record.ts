import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { bucketOf } from "@reeve/contracts/channel";
import { ErrorReason } from "@reeve/contracts/error";
import type {
  Collection,
  CollectionRecord,
  Document,
  StoredDocument,
} from "@reeve/contracts/extensions/knowledge";
import {
  CollectionRecordSchema,
  CollectionSchema,
  DocumentSchema,
} from "@reeve/contracts/extensions/knowledge";
import { Failure } from "@reeve/platform/failure";

export const validId = /^[a-z0-9][a-z0-9-]{0,62}$/;

export function keyOf(tenant: string, collection: string): string {
  return bucketOf(CollectionRecordSchema).key({ tenant, collection });
}

/** Returns the id of a document, which one with the same name has too: `parts` are its tenant, collection, and name. */
export function documentIdOf(...parts: readonly string[]): string {
  return `doc_${createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32)}`;
}

/** Returns a collection as clients see it: with its counts. */
export function shown({ collection, documents }: CollectionRecord): Collection {
  return create(CollectionSchema, {
    ...(collection ?? create(CollectionSchema)),
    documentCount: documents.length,
    textBytes: textBytesOf(documents),
  });
}

/** Returns a document as clients see it: with its embeddings. */
export function shownDocument({ document, vectors }: StoredDocument): Document {
  const own = document ?? create(DocumentSchema);
  if (vectors === undefined) return own;
  const { model, tokens, costUsd } = vectors;
  return create(DocumentSchema, {
    ...own,
    embeddingModel: model,
    embeddingTokens: tokens,
    ...(costUsd !== undefined && { embeddingCostUsd: costUsd }),
  });
}

export function textBytesOf(documents: CollectionRecord["documents"]): bigint {
  return documents.reduce((sum, { document }) => sum + (document?.textBytes ?? 0n), 0n);
}

/** Returns the names of all objects of a document. */
export function objectsOf({ object, vectors }: StoredDocument): readonly string[] {
  return vectors === undefined ? [object] : [object, vectors.object];
}

/** Returns the Failure of a search whose result others would see. */
export function nowRestricted(collectionId: string): Failure {
  const message = `collection ${collectionId} has readers of its own since the run was started, and everybody in the tenant reads the run; start a new run`;
  return new Failure("not_found", ErrorReason.COLLECTION_NOT_FOUND, message, {
    metadata: { collection_id: collectionId },
  });
}

export function collectionNotFound(collectionId: string): Failure {
  const message = `collection ${collectionId.slice(0, 100)} not found, or not for you; list the collections for their ids`;
  return new Failure("not_found", ErrorReason.COLLECTION_NOT_FOUND, message, {
    metadata: { collection_id: collectionId.slice(0, 100) },
  });
}
