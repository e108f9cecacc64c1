import { create, toBinary } from "@bufbuild/protobuf";
import { ErrorReason } from "@reeve/contracts/error";
import type { CollectionRecord } from "@reeve/contracts/extensions/knowledge";
import { CollectionRecordSchema } from "@reeve/contracts/extensions/knowledge";
import { Failure } from "@reeve/platform/failure";
import { bytesOf } from "../index/index-size.ts";
import { textBytesOf } from "./collection-record.ts";

/** The size of the largest document. */
export const maxDocumentBytes = 32 * 1_048_576;
/** The size of the largest object: vectors with 4,096 values of the passages of 4 MiB of text are smaller. */
export const maxTextObjectBytes = 64 * 1_048_576;
const maxDocuments = 500;
const maxTextBytes = 16n * 1_048_576n;
const maxPassages = 40_000;
/** Leaves room in a message of the store, for the collection itself and for what later embeddings replace. */
const maxRecordBytes = 768 * 1_024;

const maxCollections = 100;
/** More gateways than a deployment has. */
const maxGateways = 20;
/** The memory of the index of a collection: one with as much text as it may have, and without vectors, fits. */
export const maxIndexBytes = 128 * 1_048_576;

/** Whether other gateways may fill the rest of a tenant at the same time: each creates one collection of a tenant at a time. */
export function isNearlyFull(collections: number): boolean {
  return collections > maxCollections - maxGateways;
}

/** Throws a Failure if a tenant has more collections than it may have. */
export function assertRoomForCollections(collections: number): void {
  if (collections <= maxCollections) return;
  const message = `the tenant has ${collections - 1} collections, and ${maxCollections} is the maximum; delete one, or add documents to it`;
  throw new Failure("exhausted", ErrorReason.COLLECTION_FULL, message);
}

/** Throws a Failure if a model or a person could not read the name of a document as it is. */
export function assertPlainName(name: string): void {
  // Joiners are a part of words in Persian and of emoji.
  if (!/[\p{C}\p{Zl}\p{Zp}]/u.test(name.replaceAll(/[\u200C\u200D]/g, ""))) return;
  const description = "has characters that nobody sees; leave them out";
  throw new Failure("invalid", ErrorReason.INVALID_REQUEST, `name ${description}`, {
    violations: [{ field: "name", description, reason: "INVISIBLE_CHARACTERS" }],
  });
}

/** Throws a Failure if a document is larger than 32 MiB. */
export function assertDocumentFits(name: string, sizeBytes: number): void {
  if (sizeBytes <= maxDocumentBytes) return;
  const message = `document "${name}" has ${sizeBytes} bytes, more than ${maxDocumentBytes}; divide it into smaller ones`;
  throw new Failure("exhausted", ErrorReason.DOCUMENT_TOO_LARGE, message);
}

/** Whether the index of a collection fits into memory, with the vectors of these documents. */
export function hasRoomForVectors(documents: CollectionRecord["documents"]): boolean {
  return bytesOf({ documents }) <= maxIndexBytes;
}

/** Throws a Failure if a collection may not have these documents. */
export function assertRoom(collectionId: string, documents: CollectionRecord["documents"]): void {
  const problem =
    documents.length > maxDocuments
      ? `${maxDocuments} documents`
      : textBytesOf(documents) > maxTextBytes
        ? `${maxTextBytes} bytes of text`
        : documents.reduce((sum, { document }) => sum + (document?.passageCount ?? 0), 0) >
            maxPassages
          ? `${maxPassages} passages`
          : recordBytesOf(documents) > maxRecordBytes
            ? `${maxRecordBytes} bytes of names and URLs of documents`
            : undefined;
  if (problem === undefined) return;
  const message = `collection ${collectionId} would have more than ${problem}, the maximum; delete documents, or create another collection`;
  throw new Failure("exhausted", ErrorReason.COLLECTION_FULL, message, {
    metadata: { collection_id: collectionId },
  });
}

function recordBytesOf(documents: CollectionRecord["documents"]): number {
  return toBinary(CollectionRecordSchema, create(CollectionRecordSchema, { documents })).length;
}
