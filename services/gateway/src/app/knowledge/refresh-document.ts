import { ErrorReason } from "@reeve/contracts/error";
import type { RefreshDocumentRequest } from "@reeve/contracts/extensions/knowledge";
import type { AddedDocument } from "@reeve/knowledge/documents/document-adder";
import type { KnowledgeUser } from "@reeve/knowledge/collections";
import { Failure } from "@reeve/platform/failure";
import type { GatewayPorts } from "../gateway-ports.ts";
import { addFetched } from "./add-fetched.ts";

interface RefreshedDocument extends AddedDocument {
  readonly changed: boolean;
}

/** Fetches a document again, and replaces it if its bytes have changed. Stores nothing otherwise. */
export async function refreshDocument(
  {
    knowledge,
    documents,
    assertRoom,
  }: Pick<GatewayPorts, "knowledge" | "documents" | "assertRoom">,
  user: KnowledgeUser,
  { collectionId, documentId }: Pick<RefreshDocumentRequest, "collectionId" | "documentId">,
  signal: AbortSignal,
): Promise<RefreshedDocument> {
  assertRoom();
  const before = await knowledge.changeableDocument(user, collectionId, documentId, signal);
  const { document, object } = before;
  const { name, origin, sha256 } = document;
  if (origin === undefined) throw withoutUrl(collectionId, documentId, name);
  const { url, mediaType } = origin;
  return await documents.fetch(
    { tenant: user.tenant, url, mediaType, known: origin },
    async (found) => {
      if (found.kind === "unchanged" || found.fetched.sha256 === sha256) {
        return { document, changed: false, warnings: [] };
      }
      const addition = { collectionId, name, replaces: object };
      return { ...(await addFetched(knowledge, user, addition, found, signal)), changed: true };
    },
    signal,
  );
}

function withoutUrl(collectionId: string, documentId: string, name: string): Failure {
  const message = `document ${documentId} ("${name}") of collection ${collectionId} did not come from a URL; add it again instead`;
  return new Failure("precondition", ErrorReason.DOCUMENT_UNREACHABLE, message, {
    metadata: { collection_id: collectionId, document_id: documentId },
  });
}
