import { ErrorReason } from "@reeve/contracts/error";
import type { AddedDocument } from "@reeve/knowledge/documents/document-adder";
import type { DocumentDraft } from "@reeve/knowledge/documents/document-intake";
import type { KnowledgeUser } from "@reeve/knowledge/collections";
import type { FetchedDocument } from "@reeve/knowledge/fetch/document-fetcher";
import { Failure } from "@reeve/platform/failure";
import type { GatewayPorts } from "../gateway-ports.ts";

interface Addition extends Pick<DocumentDraft, "name" | "replaces"> {
  readonly collectionId: string;
}

/** Adds a document that was fetched. */
export async function addFetched(
  knowledge: Pick<GatewayPorts["knowledge"], "addDocument">,
  user: KnowledgeUser,
  { collectionId, ...addition }: Addition,
  found: FetchedDocument,
  signal: AbortSignal,
): Promise<AddedDocument> {
  if (found.kind === "unchanged") {
    const message = `document "${addition.name}" was not sent, although nothing is known of it`;
    throw new Failure("internal", ErrorReason.INTERNAL, message);
  }
  const { mediaType, bytes, fetched } = found;
  const draft = { ...addition, mediaType, read: async () => bytes, fetched };
  return await knowledge.addDocument(user, collectionId, draft, signal);
}
