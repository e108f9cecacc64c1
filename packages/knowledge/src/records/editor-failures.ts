import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

/** Returns the warning of a document whose vectors would not fit into memory. */
export function withoutRoom(collectionId: string): string {
  return `the document has no embeddings, and is found by its words only: those of collection ${collectionId} would take too much memory; divide the collection`;
}

/** Returns the Failure of a change of another revision. */
export function revisionConflict(collectionId: string, expected: number, actual: number): Failure {
  const message = `collection ${collectionId} has revision ${actual}, not ${expected}; read it again, and repeat the change`;
  return new Failure("conflict", ErrorReason.REVISION_CONFLICT, message, {
    metadata: { collection_id: collectionId },
  });
}

/** Returns the Failure of a document that a collection does not have. */
export function documentNotFound(collectionId: string, documentId: string): Failure {
  const message = `collection ${collectionId} has no document ${documentId}; list its documents for their ids`;
  return new Failure("not_found", ErrorReason.DOCUMENT_NOT_FOUND, message, {
    metadata: { collection_id: collectionId, document_id: documentId },
  });
}

/** Returns the Failure of a refresh that somebody else was faster than. */
export function documentReplaced(collectionId: string, documentId: string): Failure {
  const message = `document ${documentId} of collection ${collectionId} was replaced or removed by somebody else meanwhile; list the documents, and refresh it again if it is still there`;
  return new Failure("conflict", ErrorReason.REVISION_CONFLICT, message, {
    metadata: { collection_id: collectionId, document_id: documentId },
  });
}
