import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import {
  AddDocumentRequestSchema,
  DocumentOriginSchema,
} from "@reeve/contracts/extensions/knowledge";
import type { CollectionRecord } from "@reeve/contracts/extensions/knowledge";
import { MemoryObjects } from "@reeve/jetstream/objects/memory";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { CollectionEditor } from "@reeve/knowledge/collection-editor";
import type { DocumentAddress, FetchedDocument } from "@reeve/knowledge/fetch/document-fetcher";
import { maxTextObjectBytes } from "@reeve/knowledge/records/knowledge-limits";
import { parseText } from "@reeve/knowledge/test/text-parser";
import { expect, test } from "vitest";
import { memoryPorts } from "../../../test/support/memory-ports.ts";
import type { GatewayPorts } from "../gateway-ports.ts";
import { addDocument } from "./add-document.ts";
import { refreshDocument } from "./refresh-document.ts";

const never = new AbortController().signal;
const ann = { tenant: "acme", subject: "ann" };
const bob = { tenant: "acme", subject: "bob" };
const url = "https://example.org/rules";

/** Returns the ports of a gateway, and what a server that is asked for `url` gives. */
async function bench() {
  const web = { text: "Thirty days.", etag: "1", asked: [] as DocumentAddress[] };
  const objects = new MemoryObjects({ maxBytes: maxTextObjectBytes });
  const stores = { table: new MemoryTable<CollectionRecord>(), objects };
  const knowledge = new CollectionEditor(stores, { parse: parseText, now: () => 0 });
  const served = (address: DocumentAddress): FetchedDocument => {
    web.asked.push(address);
    if (address.known?.etag === web.etag) return { kind: "unchanged" };
    const bytes = Buffer.from(web.text);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const origin = create(DocumentOriginSchema, { url: address.url, etag: web.etag });
    const fetched = { origin, sha256, sizeBytes: bytes.length };
    return { kind: "fetched", mediaType: "text/plain", bytes, fetched };
  };
  const documents: GatewayPorts["documents"] = {
    fetch: async (address, use) => await use(served(address)),
  };
  const ports = { ...memoryPorts(), knowledge, documents };
  await knowledge.create(ann, { collectionId: "rules", title: "", readers: [] }, never);
  const source = { case: "url", value: url } as const;
  const request = create(AddDocumentRequestSchema, { collectionId: "rules", name: "a", source });
  const { document } = await addDocument(ports, ann, request, never);
  const { documentId } = document;
  const refresh = async (user = ann) =>
    await refreshDocument(ports, user, { collectionId: "rules", documentId }, never);
  const objectsLeft = async () => (await objects.list(never)).map(({ name }) => name);
  return { web, ports, knowledge, document, request, refresh, objectsLeft };
}

// Requirement: KNOW-8
test("a document that has changed is replaced, and stores nothing otherwise", async () => {
  const { web, knowledge, document, refresh, objectsLeft } = await bench();
  expect(document).toMatchObject({ name: "a", origin: { url, etag: "1" }, sizeBytes: 12n });
  const before = await objectsLeft();
  expect(await refresh()).toMatchObject({ changed: false, document });
  // Another version of the same bytes.
  web.etag = "2";
  expect(await refresh()).toMatchObject({ changed: false, document });
  expect(await objectsLeft()).toEqual(before);
  web.text = "Forty days.";
  expect(await refresh()).toMatchObject({ changed: true, document: { origin: { etag: "2" } } });
  const wanted = { collectionIds: ["rules"], query: "forty", limit: 1 };
  expect((await knowledge.search(ann, wanted, never)).passages).toHaveLength(1);
  expect(await objectsLeft()).toHaveLength(1);
});

test("a document that somebody else removed meanwhile stays removed", async () => {
  const { web, knowledge, document, ports, objectsLeft } = await bench();
  web.etag = "2";
  web.text = "Forty days.";
  const { documentId } = document;
  const { fetch } = ports.documents;
  const documents: GatewayPorts["documents"] = {
    fetch: async (address, use, signal) => {
      await knowledge.deleteDocument(ann, "rules", documentId, never);
      return await fetch(address, use, signal);
    },
  };
  const of = { collectionId: "rules", documentId };
  await expect(refreshDocument({ ...ports, documents }, ann, of, never)).rejects.toMatchObject({
    kind: "conflict",
  });
  expect((await knowledge.get(ann, "rules", never)).documents).toEqual([]);
  expect(await objectsLeft()).toEqual([]);
});

test("nothing is fetched for those who may not change the collection, and for documents without a URL", async () => {
  const { web, ports, request, refresh } = await bench();
  web.asked = [];
  await expect(refresh(bob)).rejects.toMatchObject({ kind: "denied" });
  await expect(addDocument(ports, bob, request, never)).rejects.toMatchObject({ kind: "denied" });
  const source = { case: "content", value: new Uint8Array(Buffer.from("text")) } as const;
  const file = create(AddDocumentRequestSchema, { collectionId: "rules", name: "b.md", source });
  const { document } = await addDocument(ports, ann, file, never);
  const of = { collectionId: "rules", documentId: document.documentId };
  await expect(refreshDocument(ports, ann, of, never)).rejects.toMatchObject({
    kind: "precondition",
    message: expect.stringContaining("did not come from a URL"),
  });
  expect(web.asked).toEqual([]);
});
