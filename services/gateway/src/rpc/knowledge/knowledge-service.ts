import { toBinary } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { Role } from "@reeve/contracts/access/role";
import type { KnowledgeService } from "@reeve/contracts/extensions/knowledge";
import { CollectionSchema, DocumentSchema } from "@reeve/contracts/extensions/knowledge";
import { pageOf } from "@reeve/jetstream/table/page";
import type { KnowledgeUser } from "@reeve/knowledge/collections";
import { membershipsOf } from "@reeve/platform/rpc/credential";
import { credentialOf } from "@reeve/platform/rpc/principal";
import type { GatewayPorts } from "../../app/gateway-ports.ts";
import { addDocument } from "../../app/knowledge/add-document.ts";
import { refreshDocument } from "../../app/knowledge/refresh-document.ts";
import { collectionChange } from "./collection-change.ts";

const defaultLimit = 10;

/** Returns the handlers of KnowledgeService. */
export function knowledgeService(
  ports: Pick<GatewayPorts, "knowledge" | "documents" | "artifacts" | "assertRoom">,
): ServiceImpl<typeof KnowledgeService> {
  const { knowledge, assertRoom } = ports;
  return {
    createCollection: async ({ collectionId, title, readers, readerGroups }, context) => {
      assertRoom();
      const draft = { collectionId, title, readers, readerGroups };
      return { collection: await knowledge.create(userOf(context), draft, context.signal) };
    },
    updateCollection: async (request, context) => {
      const change = collectionChange(request);
      return { collection: await knowledge.update(userOf(context), change, context.signal) };
    },
    getCollection: async ({ collectionId }, context) => {
      const found = await knowledge.get(userOf(context), collectionId, context.signal);
      return { collection: found.collection };
    },
    listCollections: async (request, context) => {
      const all = await knowledge.list(userOf(context), context.signal);
      const sizeOf = (each: (typeof all)[number]) => toBinary(CollectionSchema, each).length;
      const { items, nextPageToken } = pageOf(
        all,
        request,
        ({ collectionId }) => collectionId,
        (key, previous) => key > previous,
        sizeOf,
      );
      return { collections: [...items], nextPageToken };
    },
    deleteCollection: async ({ collectionId }, context) => {
      await knowledge.delete(userOf(context), collectionId, context.signal);
      return {};
    },
    addDocument: async (request, context) => {
      const added = await addDocument(ports, userOf(context), request, context.signal);
      return { document: added.document, warnings: [...added.warnings] };
    },
    refreshDocument: async (request, context) => {
      const { document, changed, warnings } = await refreshDocument(
        ports,
        userOf(context),
        request,
        context.signal,
      );
      return { document, changed, warnings: [...warnings] };
    },
    listDocuments: async (request, context) => {
      const found = await knowledge.get(userOf(context), request.collectionId, context.signal);
      const documents = found.documents.toSorted((a, b) => (a.name < b.name ? -1 : 1));
      const { items, nextPageToken } = pageOf(
        documents,
        request,
        ({ name }) => name,
        (key, previous) => key > previous,
        (each) => toBinary(DocumentSchema, each).length,
      );
      return { documents: [...items], nextPageToken };
    },
    deleteDocument: async ({ collectionId, documentId }, context) => {
      await knowledge.deleteDocument(userOf(context), collectionId, documentId, context.signal);
      return {};
    },
    searchCollections: async ({ collectionIds, query, limit }, context) => {
      const wanted = { collectionIds, query, limit: limit === 0 ? defaultLimit : limit };
      const found = await knowledge.search(userOf(context), wanted, context.signal);
      return { passages: [...found.passages], retrieval: found.retrieval };
    },
  };
}

function userOf(context: HandlerContext): KnowledgeUser {
  const { tenant, subject, roles, groups } = credentialOf(context);
  const memberships = membershipsOf({ roles, groups });
  return { tenant, subject, groups: memberships, isOperator: roles.has(Role.OPERATOR) };
}
