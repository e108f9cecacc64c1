import type { CollectionRecord } from "@reeve/contracts/extensions/knowledge";
import { Ranking } from "@reeve/contracts/extensions/knowledge";
import { MemoryObjects } from "@reeve/jetstream/objects/memory";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { expect, test } from "vitest";
import { SynonymEmbedder } from "../../test/synonym-embedder.ts";
import { draftOf, parseText } from "../../test/text-parser.ts";
import { CollectionEditor } from "../collection-editor.ts";
import { Collections } from "../collections.ts";
import { unlimitedRoom } from "../documents/document-room.ts";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { embedTexts } from "./embed-texts.ts";
import { byteVectors } from "./byte-vectors.ts";
import type { Embedder } from "./embedder.ts";
import { fuseRanks } from "./fuse-ranks.ts";
import { VectorRefresher } from "./vector-refresher.ts";

const never = new AbortController().signal;
const ann = { tenant: "acme", subject: "ann" };
const log = { warn: () => undefined, info: () => undefined };

const newStores = () => ({
  table: new MemoryTable<CollectionRecord>(),
  objects: new MemoryObjects({ maxBytes: 1_000_000 }),
});
type Stores = ReturnType<typeof newStores>;

const hourMs = 3_600_000;

function editorWith(stores: Stores, embedder?: Embedder, nowMs = 0) {
  const now = () => nowMs;
  const room = unlimitedRoom;
  const refresher = embedder && new VectorRefresher({ ...stores, embedder, room, now, log }, never);
  const editor = new CollectionEditor(stores, { parse: parseText, now, embedder, refresher });
  return { editor, refresher };
}

/** Adds documents to a collection, which it creates. */
async function fill(editor: CollectionEditor, documents: Readonly<Record<string, string>>) {
  await editor.create(ann, { collectionId: "h", title: "", readers: [] }, never);
  const added = [];
  for (const [name, text] of Object.entries(documents)) {
    added.push(await editor.addDocument(ann, "h", draftOf(name, text), never));
  }
  return added;
}

async function search(collections: Collections, query: string) {
  const wanted = { collectionIds: ["h"], query, limit: 5 };
  const { passages, retrieval } = await collections.search(ann, wanted, never);
  return { names: passages.map(({ documentName }) => documentName), retrieval };
}

const documents = {
  "leave.md": "Thirty days of vacation.",
  "train.md": "Book a train.",
  "other.md": "Lunch is at noon.",
};

// Requirement: KNOW-4
test("a query finds a document with other words of the same meaning, and says what it cost", async () => {
  const embedder = new SynonymEmbedder();
  const { editor } = editorWith(newStores(), embedder);
  const [first] = await fill(editor, documents);
  expect(first).toMatchObject({
    warnings: [],
    document: { embeddingModel: "test:synonyms", embeddingTokens: 1n, embeddingCostUsd: 0.001 },
  });
  const { names, retrieval } = await search(editor, "How many holidays?");
  expect(names[0]).toBe("leave.md");
  expect(retrieval).toMatchObject({
    ranking: Ranking.HYBRID,
    embeddingModel: "test:synonyms",
    embeddingTokens: 1n,
    embeddingCostUsd: 0.001,
    warnings: [],
  });
});

test("the same document again keeps its text and embeddings, and pays for neither", async () => {
  const stores = newStores();
  const embedder = new SynonymEmbedder();
  const { editor } = editorWith(stores, embedder, 1);
  const [first] = await fill(editor, { "leave.md": documents["leave.md"] });
  const objects = await stores.objects.list(never);
  const again = draftOf("leave.md", documents["leave.md"]);
  const bob = { ...ann, subject: "bob", isOperator: true };
  const { document, warnings } = await editor.addDocument(bob, "h", again, never);
  expect(document).toEqual({ ...first?.document, addedBy: "bob" });
  expect(warnings).toEqual([]);
  expect(embedder.texts).toHaveLength(1);
  expect(await stores.objects.list(never)).toEqual(objects);
  expect((await search(editor, "holiday")).names).toEqual(["leave.md"]);
  await editor.addDocument(ann, "h", draftOf("leave.md", "Forty days of vacation."), never);
  expect((await search(editor, "forty")).names).toEqual(["leave.md"]);
  expect(await stores.objects.list(never)).toHaveLength(2);
});

test("a document that both rankings find comes first", async () => {
  const { editor } = editorWith(newStores(), new SynonymEmbedder());
  await fill(editor, { ...documents, "rail.md": "Rail passes for a train.", "word.md": "passes" });
  expect((await search(editor, "rail passes")).names[0]).toBe("rail.md");
});

test("without an embedder, only words are searched, and the result says so", async () => {
  const stores = newStores();
  await fill(editorWith(stores, new SynonymEmbedder()).editor, documents);
  const { names, retrieval } = await search(new Collections(stores), "vacation");
  expect(names).toEqual(["leave.md"]);
  expect(retrieval).toMatchObject({ ranking: Ranking.BM25, embeddingModel: "", warnings: [] });
});

// Requirement: KNOW-5
test("an embedder that fails costs a document and a search their meaning, and nothing else", async () => {
  const stores = newStores();
  const embedder = new SynonymEmbedder();
  const { editor, refresher } = editorWith(stores, embedder);
  embedder.problem = "the server is away";
  const [added] = await fill(editor, documents);
  await refresher?.idle;
  expect(added?.warnings).toEqual([expect.stringContaining("the server is away")]);
  expect(added?.document.embeddingModel).toBe("");
  expect((await search(editor, "vacation")).retrieval.warnings).toEqual([
    expect.stringContaining("no embeddings of test:synonyms yet"),
  ]);
  // The pause after the failure is over for another process.
  embedder.problem = "";
  const other = editorWith(stores, embedder);
  await search(other.editor, "vacation");
  await other.refresher?.idle;
  expect((await search(other.editor, "holiday")).names[0]).toBe("leave.md");
  embedder.problem = "the server is away";
  const { names, retrieval } = await search(other.editor, "vacation");
  expect(names).toEqual(["leave.md"]);
  expect(retrieval).toMatchObject({
    ranking: Ranking.BM25,
    warnings: [expect.stringContaining("only words were searched: the server is away")],
  });
});

// Requirement: KNOW-6
test("another model is never compared with the vectors of the one before, which it replaces", async () => {
  const stores = newStores();
  await fill(editorWith(stores, new SynonymEmbedder("test:one")).editor, documents);
  const rollout = editorWith(stores, new SynonymEmbedder("test:two", 3), hourMs - 1);
  await search(rollout.editor, "holiday");
  await rollout.refresher?.idle;
  const two = editorWith(stores, new SynonymEmbedder("test:two", 3), hourMs);
  const first = await search(two.editor, "holiday");
  expect(first).toMatchObject({ names: [], retrieval: { ranking: Ranking.BM25 } });
  expect(first.retrieval.warnings).toHaveLength(1);
  await two.refresher?.idle;
  const second = await search(two.editor, "holiday");
  expect(second).toMatchObject({ retrieval: { ranking: Ranking.HYBRID, warnings: [] } });
  expect(second.names[0]).toBe("leave.md");
  const listed = await editorWith(stores).editor.get(ann, "h", never);
  expect(listed.documents.map((each) => each.embeddingModel)).toEqual(Array(3).fill("test:two"));
  // One object for the text, and one for the vectors of now.
  expect(await stores.objects.list(never)).toHaveLength(6);
});

test("a model whose vectors become longer under the same name replaces all of them", async () => {
  const stores = newStores();
  await fill(editorWith(stores, new SynonymEmbedder("test:one")).editor, documents);
  const early = editorWith(stores, new SynonymEmbedder("test:one", 2));
  const { retrieval } = await search(early.editor, "holiday");
  expect(retrieval.warnings).toEqual([expect.stringContaining("3 of 3 documents")]);
  await early.refresher?.idle;
  expect((await search(early.editor, "holiday")).names).toEqual([]);
  const longer = editorWith(stores, new SynonymEmbedder("test:one", 2), hourMs);
  await search(longer.editor, "holiday");
  await longer.refresher?.idle;
  expect((await search(longer.editor, "holiday")).names[0]).toBe("leave.md");
});

// Requirement: KNOW-6
test.each([
  ["models", "test:two", 0],
  ["lengths of vectors", "test:one", 2],
])(
  "gateways with different %s do not replace the vectors of each other without end",
  async (_, model, extra) => {
    const stores = newStores();
    const one = new SynonymEmbedder("test:one");
    const two = new SynonymEmbedder(model, extra);
    await fill(editorWith(stores, one).editor, { "leave.md": "Thirty days of vacation." });
    let nowMs = 0;
    const now = () => nowMs;
    const gateways = [one, two].map((embedder) => {
      const ports = { ...stores, embedder, room: unlimitedRoom, now, log };
      return { embedder, refresher: new VectorRefresher(ports, never) };
    });
    // Somebody searches each hour at both gateways, for thirty days.
    for (; nowMs <= 30 * 24 * hourMs; nowMs += hourMs) {
      for (const { embedder, refresher } of gateways) {
        const row = await stores.table.get("acme.h", never);
        const [vector] = (await embedder.embed(["holiday"], never)).vectors;
        if (row !== undefined) refresher.notice(row, vector?.length);
        await refresher.idle;
      }
    }
    const embedded = [...one.texts, ...two.texts].filter((text) => text.startsWith("Thirty"));
    // The other model once, and then each again after one, two, four, and eight days.
    expect(embedded.length).toBeLessThan(12);
    expect(embedded.length).toBeGreaterThan(4);
  },
);

test("a document that is replaced while it is embedded keeps its new text", async () => {
  const stores = newStores();
  await fill(editorWith(stores).editor, documents);
  const slow = new SynonymEmbedder();
  const { editor, refresher } = editorWith(stores, slow);
  const embed = slow.embed.bind(slow);
  slow.embed = async (texts, signal) => {
    if (texts.includes(documents["leave.md"])) {
      await editorWith(stores).editor.deleteDocument(ann, "h", await idOf(editor), never);
    }
    return await embed(texts, signal);
  };
  await search(editor, "x");
  await refresher?.idle;
  const { documents: left } = await editor.get(ann, "h", never);
  expect(left.map(({ name }) => name)).toEqual(["train.md", "other.md"]);
  expect(await stores.objects.list(never)).toHaveLength(4);
});

// Requirement: KNOW-5
test("a document that the model refuses keeps no other one from being embedded", async () => {
  const stores = newStores();
  const { editor: plain } = editorWith(stores);
  await fill(plain, { "poison.md": "poison", ...documents });
  const embedder = new SynonymEmbedder();
  const embed = embedder.embed.bind(embedder);
  let refusals = 0;
  embedder.embed = async (texts, signal) => {
    if (!texts.some((text) => text.includes("poison"))) return await embed(texts, signal);
    refusals += 1;
    throw new Failure("invalid", ErrorReason.INVALID_REQUEST, "test:synonyms refuses the text");
  };
  const { editor, refresher } = editorWith(stores, embedder);
  await search(editor, "x");
  await refresher?.idle;
  expect((await search(editor, "holiday")).names[0]).toBe("leave.md");
  await refresher?.idle;
  expect(refusals).toBe(1);
});

test("a passage that the model refuses has no direction, and the others of its document have", async () => {
  const embedder = new SynonymEmbedder();
  const embed = embedder.embed.bind(embedder);
  embedder.embed = async (texts, signal) => {
    if (!texts.includes("poison")) return await embed(texts, signal);
    throw new Failure("invalid", ErrorReason.INVALID_REQUEST, "refused");
  };
  const texts = ["a train", "poison", "a plane", "rail"];
  const { values, dimensions, refused } = await embedTexts(embedder, texts, { signal: never });
  expect({ dimensions, refused, length: values.length }).toEqual({
    dimensions: 4,
    refused: 1,
    length: 16,
  });
  expect(Array.from(values.subarray(4, 8))).toEqual([0, 0, 0, 0]);
  await expect(embedTexts(embedder, ["poison"], { signal: never })).rejects.toThrow("refused");
});

async function idOf(editor: CollectionEditor): Promise<string> {
  const { documents: all } = await editor.get(ann, "h", never);
  return all.find(({ name }) => name === "leave.md")?.documentId ?? "";
}

test("what is no list of vectors of one length is refused", () => {
  for (const vectors of [[[]], [[1], [1, 2]], [[Number.NaN]], [Array(5_000).fill(1)]]) {
    expect(() => byteVectors(vectors)).toThrow("something else than vectors");
  }
  expect([
    ...byteVectors([
      [0, 0],
      [0.5, -1],
    ]),
  ]).toEqual([0, 0, 64, -127]);
});

test("ranks are fused, and the first ranking decides between equals", () => {
  const fused = fuseRanks(
    [
      ["a", "b"],
      ["c", "b"],
    ],
    (item) => item,
  );
  expect(fused.map(({ item }) => item)).toEqual(["b", "a", "c"]);
});
