import type { TenantRequest } from "./tenant-request.ts";
import { ids, secret } from "./tenant-request.ts";

const newText = { case: "content", value: Buffer.from("new") };

/** A request for the collection of the owner. */
function ofCollection(more: () => object = () => ({})): TenantRequest {
  const request = () => ({ collectionId: "theirs", ...more() });
  return { request, stranger: "COLLECTION_NOT_FOUND" };
}

/** Every method of collections, in the order in which the owner can call them. */
export const collectionRequests: Readonly<Record<string, TenantRequest>> = {
  "KnowledgeService/CreateCollection": { request: () => ({ collectionId: "new" }) },
  "KnowledgeService/GetCollection": ofCollection(),
  "KnowledgeService/UpdateCollection": ofCollection(),
  "KnowledgeService/ListCollections": { request: () => ({}) },
  "KnowledgeService/AddDocument": ofCollection(() => ({ name: "new.md", source: newText })),
  // The document of the owner has no URL.
  "KnowledgeService/RefreshDocument": {
    ...ofCollection(() => ({ documentId: ids.document })),
    owner: "DOCUMENT_UNREACHABLE",
  },
  "KnowledgeService/ListDocuments": ofCollection(),
  "KnowledgeService/SearchCollections": {
    request: () => ({ collectionIds: ["theirs"], query: secret }),
    stranger: "COLLECTION_NOT_FOUND",
  },
  "KnowledgeService/DeleteDocument": ofCollection(() => ({ documentId: ids.document })),
  "KnowledgeService/DeleteCollection": ofCollection(),
};
