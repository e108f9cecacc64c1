import { EventFamily } from "@reeve/contracts/run";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Clients, Protocol } from "./support/clients.ts";
import { clientsOf, refusalOf } from "./support/clients.ts";
import type { GatewayBench } from "./support/gateway-bench.ts";
import { openGatewayBench, tokens } from "./support/gateway-bench.ts";

let bench: GatewayBench;

beforeAll(async () => {
  bench = await openGatewayBench();
});

afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

function as(token: string, protocol: Protocol = "gRPC"): Clients {
  return clientsOf(bench.url, `Bearer ${token}`, protocol);
}

const content = (text: string) =>
  ({ case: "content", value: new Uint8Array(Buffer.from(text)) }) as const;

test.each<Protocol>(["gRPC", "Connect with JSON"])(
  "a collection is created, filled, searched, and deleted over %s",
  async (protocol) => {
    const { knowledge } = as(tokens.acme, protocol);
    const collectionId = "handbook";
    await knowledge.createCollection({ collectionId, title: "Staff handbook" });
    const source = content("# Leave\nThirty days of vacation.");
    const { document } = await knowledge.addDocument({ collectionId, name: "leave.md", source });
    expect(document).toMatchObject({ mediaType: "text/markdown", passageCount: 1 });
    const { collections } = await knowledge.listCollections({});
    expect(collections).toMatchObject([
      { collectionId, documentCount: 1, title: "Staff handbook" },
    ]);
    expect((await knowledge.listDocuments({ collectionId })).documents).toEqual([document]);
    const query = "vacation";
    const { passages } = await knowledge.searchCollections({
      collectionIds: [collectionId],
      query,
    });
    expect(passages).toMatchObject([{ documentName: "leave.md", firstLine: 1, lastLine: 2 }]);
    await knowledge.deleteDocument({ collectionId, documentId: document?.documentId ?? "" });
    expect((await knowledge.getCollection({ collectionId })).collection?.documentCount).toBe(0);
    await knowledge.deleteCollection({ collectionId });
    expect((await refusalOf(knowledge.getCollection({ collectionId }))).reason).toBe(
      "COLLECTION_NOT_FOUND",
    );
  },
);

test("a document comes from an artifact too, and one that cannot be read is refused", async () => {
  const { knowledge, artifacts } = as(tokens.acme);
  const collectionId = "files";
  await knowledge.createCollection({ collectionId });
  const header = { name: "a.txt", mediaType: "text/plain" };
  const bytes = new Uint8Array(Buffer.from("a cat"));
  const { artifact } = await artifacts.createArtifact({ header, content: bytes });
  const source = { case: "artifactId", value: artifact?.artifactId ?? "" } as const;
  const { document } = await knowledge.addDocument({ collectionId, name: "a", source });
  expect(document).toMatchObject({ mediaType: "text/plain", sizeBytes: 5n });
  for (const [name, given, reason] of [
    ["a.pdf", content("no PDF"), "DOCUMENT_UNREADABLE"],
    ["a.exe", content("MZ"), "DOCUMENT_UNREADABLE"],
    ["a", { case: "artifactId", value: "art_unknown0000000000" }, "ARTIFACT_NOT_FOUND"],
  ] as const) {
    const refused = await refusalOf(knowledge.addDocument({ collectionId, name, source: given }));
    expect(refused.reason).toBe(reason);
  }
  expect((await knowledge.listDocuments({ collectionId })).documents).toEqual([document]);
});

// Requirement: KNOW-7
test("every run of an agent with collections has them, and is refused to users who may not read them", async () => {
  const own = as(tokens.acme);
  const other = as(tokens.acmeToo);
  const spec = { name: "a", model: "known" };
  for (const [id, readers] of [
    ["ours", []],
    ["mine", ["ann"]],
  ] as const) {
    await own.knowledge.createCollection({ collectionId: id, readers: [...readers] });
    await own.agents.createAgent({ spec: { ...spec, id: `with-${id}`, collections: [id] } });
  }
  const delegates = { ...spec, id: "caller", delegates: ["with-mine"] };
  await own.agents.createAgent({ spec: delegates });
  for (const agentId of ["with-mine", "caller"]) {
    const refused = await refusalOf(other.runs.startRun({ agentId, input: "x" }));
    expect(refused.reason).toBe("COLLECTION_NOT_FOUND");
  }
  const { run } = await own.runs.startRun({
    agentId: "with-mine",
    input: "x",
    collections: ["ours"],
  });
  expect(await createdOf(own, run?.runId ?? "")).toMatchObject({
    collections: ["ours", "mine"],
    collectionsRestricted: true,
  });
  const shared = await other.runs.startRun({ agentId: "with-ours", input: "x" });
  expect(await createdOf(other, shared.run?.runId ?? "")).toMatchObject({
    collections: ["ours"],
    collectionsRestricted: false,
  });
});

/** Returns how a run was started. */
async function createdOf({ runs }: Clients, runId: string) {
  const families = [EventFamily.RECORD];
  const selection = { case: "families", value: { families } } as const;
  for await (const { events } of runs.watchRun({ runId, selection })) {
    for (const { event } of events) if (event.case === "runCreated") return event.value;
  }
  return undefined;
}

async function upload({ artifacts }: Clients): Promise<string> {
  const header = { name: "a.txt", mediaType: "text/plain" };
  const bytes = new Uint8Array(Buffer.from("a cat"));
  const { artifact } = await artifacts.createArtifact({ header, content: bytes });
  return artifact?.artifactId ?? "";
}

test("an upload for one document is deleted with it, and what another person uploaded is not", async () => {
  const own = as(tokens.acme);
  const collectionId = "uploads";
  await own.knowledge.createCollection({ collectionId });
  const add = async (artifactId: string) => {
    const source = { case: "artifactId", value: artifactId } as const;
    const request = { collectionId, name: "a", source, discardArtifact: true };
    return await own.knowledge.addDocument(request);
  };
  const mine = await upload(own);
  await add(mine);
  expect((await refusalOf(add(mine))).reason).toBe("ARTIFACT_NOT_FOUND");
  const foreign = await upload(as(tokens.acmeToo));
  expect((await refusalOf(add(foreign))).reason).toBe("PERMISSION_DENIED");
});

test("a run is refused with a collection that its user may not read", async () => {
  const own = as(tokens.acme);
  const other = as(tokens.acmeToo);
  await own.agents.createAgent({ spec: { id: "reader", name: "reader", model: "known" } });
  await own.knowledge.createCollection({ collectionId: "shared" });
  await own.knowledge.createCollection({ collectionId: "private", readers: ["nobody-else"] });
  const start = { agentId: "reader", input: "x", collections: ["shared", "private"] };
  const refused = await refusalOf(other.runs.startRun(start));
  expect(refused.reason).toBe("COLLECTION_NOT_FOUND");
  expect((await own.runs.startRun(start)).run?.runId).toMatch(/^run_/);
  const shared = { ...start, collections: ["shared"] };
  expect((await other.runs.startRun(shared)).run?.runId).toMatch(/^run_/);
});
