import { ErrorReason } from "@reeve/contracts/error";
import { describe, expect, test } from "vitest";
import { CollectionEditor } from "../src/collection-editor.ts";
import type { KnowledgeStores } from "../src/collections.ts";
import type { KnowledgeUser } from "../src/collections.ts";
import { Collections } from "../src/collections.ts";
import { sweepTexts } from "../src/sweep-texts.ts";
import { draftOf, parseText } from "./text-parser.ts";

const never = new AbortController().signal;
const ann = { tenant: "acme", subject: "ann" };
const bob = { tenant: "acme", subject: "bob" };
const stranger = { tenant: "globex", subject: "ann" };
const operator = { tenant: "acme", subject: "olga", isOperator: true };
let collections = 0;

async function add(knowledge: CollectionEditor, id: string, name: string, text: string) {
  return await knowledge.addDocument(ann, id, draftOf(name, text), never);
}

async function search(from: Collections, id: string, query: string, user: KnowledgeUser = ann) {
  const wanted = { collectionIds: [id], query, limit: 10 };
  return (await from.search(user, wanted, never)).passages;
}

const namesOf = (passages: readonly { readonly documentName: string }[]) =>
  passages.map(({ documentName }) => documentName);

/** A search whose result others see. */
const shared = (id: string) => ({ collectionIds: [id], query: "cat", limit: 1, isShared: true });

async function* orphan() {
  yield Buffer.from("orphan");
}

/** The contract of collections, over any stores. */
export function knowledgeContract(where: string, stores: () => KnowledgeStores): void {
  const editor = () => new CollectionEditor(stores(), { parse: parseText, now: () => 1_000 });

  /** Creates a collection of ann with documents, by name. */
  async function collectionOf(
    documents: Readonly<Record<string, string>>,
    readers: readonly string[] = [],
  ) {
    const collectionId = `c${collections++}`;
    const knowledge = editor();
    await knowledge.create(ann, { collectionId, title: "", readers: [...readers] }, never);
    for (const [name, text] of Object.entries(documents))
      await add(knowledge, collectionId, name, text);
    return { knowledge, collectionId };
  }

  describe(`collections ${where}`, () => {
    // Requirement: CHAT-3
    test("find passages with the words of a query, and say where they are", async () => {
      const documents = { "a.md": "# Leave\nThirty days of vacation.\n", "b.md": "A refund." };
      const { knowledge, collectionId } = await collectionOf(documents);
      expect(await search(knowledge, collectionId, "How many VACATION days?")).toMatchObject([
        { documentName: "a.md", collectionId, firstLine: 1, lastLine: 2, page: 0 },
      ]);
      expect(namesOf(await search(knowledge, collectionId, "refunds"))).toEqual(["b.md"]);
      for (const query of ["", "the", "🦕", '(.* "OR', "dinosaurs"]) {
        expect(await search(knowledge, collectionId, query)).toEqual([]);
      }
    });

    test("find what another process added just before", async () => {
      const { knowledge, collectionId } = await collectionOf({ "a.md": "one cat" });
      const other = new Collections(stores());
      expect(namesOf(await search(other, collectionId, "cat"))).toEqual(["a.md"]);
      await add(knowledge, collectionId, "b.md", "two cats");
      expect(namesOf(await search(other, collectionId, "cat")).toSorted()).toEqual([
        "a.md",
        "b.md",
      ]);
      const { documents } = await knowledge.get(ann, collectionId, never);
      const first = documents.find(({ name }) => name === "a.md")?.documentId ?? "";
      await knowledge.deleteDocument(ann, collectionId, first, never);
      expect(namesOf(await search(other, collectionId, "cat"))).toEqual(["b.md"]);
    });

    test("replace a document with the same name", async () => {
      const { knowledge, collectionId } = await collectionOf({ "a.md": "old words" });
      await search(knowledge, collectionId, "old");
      await add(knowledge, collectionId, "a.md", "new words");
      expect(await search(knowledge, collectionId, "old")).toEqual([]);
      expect(await search(knowledge, collectionId, "new")).toHaveLength(1);
      expect((await knowledge.get(ann, collectionId, never)).collection).toMatchObject({
        documentCount: 1,
        textBytes: 9n,
      });
      const left = await stores().objects.list(never);
      expect(left.filter(({ name }) => name.startsWith(`acme/${collectionId}/`))).toHaveLength(1);
    });

    test("keep all documents that many callers add at the same time", async () => {
      const { knowledge, collectionId } = await collectionOf({});
      const names = Array.from({ length: 6 }, (_, index) => `${index}.md`);
      await Promise.all(names.map((name) => add(knowledge, collectionId, name, "a cat")));
      expect(namesOf(await search(knowledge, collectionId, "cat")).toSorted()).toEqual(names);
    });

    test("stay as they are when a document cannot be read", async () => {
      const { knowledge, collectionId } = await collectionOf({ "a.md": "one cat" });
      const before = await stores().objects.list(never);
      for (const [name, bytes, reason] of [
        ["a.md", Uint8Array.of(0xff, 0), undefined],
        ["a.exe", Uint8Array.of(77), ErrorReason.DOCUMENT_UNREADABLE],
        ["a.md", new Uint8Array(33 * 1_048_576), ErrorReason.DOCUMENT_TOO_LARGE],
      ] as const) {
        const draft = draftOf(name, bytes);
        const refused = knowledge.addDocument(ann, collectionId, draft, never);
        await expect(refused).rejects.toMatchObject(reason === undefined ? {} : { reason });
      }
      expect(namesOf(await search(knowledge, collectionId, "cat"))).toEqual(["a.md"]);
      expect(await stores().objects.list(never)).toHaveLength(before.length);
    });

    test("do not exist for users of other tenants, and for those who are not readers", async () => {
      const { knowledge, collectionId } = await collectionOf({ "a.md": "a cat" }, ["carl"]);
      const missing = { reason: ErrorReason.COLLECTION_NOT_FOUND };
      for (const user of [bob, stranger]) {
        await expect(search(knowledge, collectionId, "cat", user)).rejects.toMatchObject(missing);
        await expect(knowledge.get(user, collectionId, never)).rejects.toMatchObject(missing);
        await expect(knowledge.delete(user, collectionId, never)).rejects.toMatchObject(missing);
        const listed = await knowledge.list(user, never);
        expect(listed.map((each) => each.collectionId)).not.toContain(collectionId);
      }
      const carl = { tenant: "acme", subject: "carl" };
      expect(await search(knowledge, collectionId, "cat", carl)).toHaveLength(1);
      await expect(search(knowledge, collectionId, "cat", operator)).rejects.toMatchObject(missing);
    });

    // Requirement: KNOW-2
    test("are read by the members of their groups, and by nobody for others to see", async () => {
      const { knowledge, collectionId } = await collectionOf({});
      await add(knowledge, collectionId, "a.md", "a cat");
      const restricted = `${collectionId}-g`;
      const draft = { collectionId: restricted, title: "", readers: [], readerGroups: ["hr"] };
      await knowledge.create(ann, draft, never);
      await add(knowledge, restricted, "a.md", "a cat");
      const missing = { reason: ErrorReason.COLLECTION_NOT_FOUND };
      const member = { ...bob, groups: new Set(["hr", "it"]) };
      expect(await search(knowledge, restricted, "cat", member)).toHaveLength(1);
      for (const groups of [new Set<string>(), new Set(["it"])]) {
        const outsider = search(knowledge, restricted, "cat", { ...bob, groups });
        await expect(outsider).rejects.toMatchObject(missing);
      }
      const refused = knowledge.search(ann, shared(restricted), never);
      await expect(refused).rejects.toMatchObject(missing);
      const { passages } = await knowledge.search(ann, shared(collectionId), never);
      expect(passages).toHaveLength(1);
    });

    test("take names with joiners, and none with characters that nobody sees", async () => {
      const { knowledge, collectionId } = await collectionOf({});
      await add(knowledge, collectionId, "می\u200cخواهم.md", "a cat");
      await expect(add(knowledge, collectionId, "a\u202eb.md", "a cat")).rejects.toMatchObject({
        kind: "invalid",
      });
    });

    // Requirement: KNOW-2
    test("keep the readers that a change does not name, and refuse a change of an older revision", async () => {
      const { knowledge, collectionId } = await collectionOf({ "a.md": "a cat" }, ["carl"]);
      const titled = await knowledge.update(ann, { collectionId, title: "Cats" }, never);
      expect(titled).toMatchObject({ title: "Cats", readers: ["carl"], revision: 1 });
      const change = { collectionId, readers: ["ann"], revision: 0 };
      await expect(knowledge.update(ann, change, never)).rejects.toMatchObject({
        reason: ErrorReason.REVISION_CONFLICT,
      });
      const changed = await knowledge.update(ann, { ...change, revision: 1 }, never);
      expect(changed).toMatchObject({ title: "Cats", readers: ["ann"], revision: 2 });
    });

    test("have no text of a document whose caller left", async () => {
      const { knowledge, collectionId } = await collectionOf({ "a.md": "a cat" });
      const before = await stores().objects.list(never);
      const leaving = new AbortController();
      const { objects, table } = stores();
      const leavesMidway = {
        table,
        objects: {
          read: objects.read.bind(objects),
          remove: objects.remove.bind(objects),
          removeUnchanged: objects.removeUnchanged.bind(objects),
          list: objects.list.bind(objects),
          cleanUp: objects.cleanUp.bind(objects),
          write: async (...given: Parameters<typeof objects.write>) => {
            const written = await objects.write(...given);
            leaving.abort(new Error("left"));
            return written;
          },
        },
      };
      const other = new CollectionEditor(leavesMidway, { parse: parseText, now: () => 1_000 });
      const draft = draftOf("b.md", "a dog");
      const added = other.addDocument(ann, collectionId, draft, leaving.signal);
      await expect(added).rejects.toThrow("left");
      expect(await stores().objects.list(never)).toHaveLength(before.length);
      expect(namesOf(await search(knowledge, collectionId, "cat dog"))).toEqual(["a.md"]);
    });

    test("keep their texts when what nobody names is swept away", async () => {
      const { knowledge, collectionId } = await collectionOf({ "a.md": "a cat" });
      const { objects, table } = stores();
      await objects.write(`acme/${collectionId}`, orphan(), never);
      await objects.write("acme/deleted", orphan(), never);
      const before = await objects.list(never);
      await sweepTexts({ table, objects }, Date.now(), never);
      expect(await objects.list(never)).toHaveLength(before.length);
      await sweepTexts({ table, objects }, Date.now() + 7_200_000, never);
      const left = (await objects.list(never)).map(({ name }) => name);
      expect(left.filter((name) => name.startsWith(`acme/${collectionId}/`))).toHaveLength(1);
      expect(left.filter((name) => name.startsWith("acme/deleted/"))).toEqual([]);
      expect(namesOf(await search(new Collections(stores()), collectionId, "cat"))).toEqual([
        "a.md",
      ]);
      expect(namesOf(await search(knowledge, collectionId, "cat"))).toEqual(["a.md"]);
    });

    test("are changed only by their creator and by operators", async () => {
      const { knowledge, collectionId } = await collectionOf({ "a.md": "a cat" });
      expect(await search(knowledge, collectionId, "cat", bob)).toHaveLength(1);
      const draft = draftOf("b.md", "x");
      const denied = { kind: "denied" };
      await expect(knowledge.addDocument(bob, collectionId, draft, never)).rejects.toMatchObject(
        denied,
      );
      await expect(knowledge.delete(bob, collectionId, never)).rejects.toMatchObject(denied);
      await knowledge.delete(operator, collectionId, never);
      await expect(knowledge.get(ann, collectionId, never)).rejects.toMatchObject({
        reason: ErrorReason.COLLECTION_NOT_FOUND,
      });
    });

    test("leave no text behind when they are deleted, and start empty when created again", async () => {
      const { knowledge, collectionId } = await collectionOf({ "a.md": "a cat" });
      await search(knowledge, collectionId, "cat");
      await knowledge.delete(ann, collectionId, never);
      const left = await stores().objects.list(never);
      expect(left.filter(({ name }) => name.startsWith(`acme/${collectionId}/`))).toEqual([]);
      await knowledge.create(ann, { collectionId, title: "", readers: [] }, never);
      expect(await search(knowledge, collectionId, "cat")).toEqual([]);
      const again = knowledge.create(ann, { collectionId, title: "", readers: [] }, never);
      await expect(again).rejects.toMatchObject({ reason: ErrorReason.COLLECTION_EXISTS });
    });
  });
}
