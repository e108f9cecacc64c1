import { create } from "@bufbuild/protobuf";
import { CollectionRecordSchema, DocumentTextSchema } from "@reeve/contracts/extensions/knowledge";
import { expect, test } from "vitest";
import { IndexCache } from "./index-cache.ts";

const never = new AbortController().signal;
const query = { text: "cat", limit: 10 };

/** Returns the row of a collection with documents, each with the text "a cat". */
function rowOf(revision: number, objects: readonly string[], key = "acme.c") {
  const documents = objects.map((object) => ({
    document: { documentId: object, name: object, textBytes: 5n },
    object,
  }));
  return { key, revision, record: create(CollectionRecordSchema, { documents }) };
}

/** Returns a cache over texts, of which some can be removed. */
function cacheOver(removed = new Set<string>()) {
  const passages = [{ text: "a cat", page: 0, firstLine: 1, lastLine: 1 }];
  const read = {
    text: async (object: string) =>
      removed.has(object) ? undefined : create(DocumentTextSchema, { passages }),
    vectors: async () => undefined,
  };
  return new IndexCache(read, { model: undefined, maxBytes: 1_000_000 });
}

async function namesIn(cache: IndexCache, row: ReturnType<typeof rowOf>, isConfirmed = false) {
  const found = await cache.search({ row, isConfirmed }, query, never);
  return found?.matches.map(({ documentName }) => documentName).toSorted();
}

test("a search finds all documents of its row, or says that the row is outdated", async () => {
  const removed = new Set<string>();
  const cache = cacheOver(removed);
  expect(await namesIn(cache, rowOf(5, ["a1", "b1"]))).toEqual(["a1", "b1"]);
  // Another process has replaced b2 already.
  removed.add("b2");
  const [newer, older] = await Promise.all([
    namesIn(cache, rowOf(6, ["a1", "b2"])),
    namesIn(cache, rowOf(5, ["a1", "b1"])),
  ]);
  expect(newer).toBeUndefined();
  expect(older).toEqual(["a1", "b1"]);
  expect(await namesIn(cache, rowOf(7, ["a1", "b3"]))).toEqual(["a1", "b3"]);
  expect(await namesIn(cache, rowOf(5, ["a1", "b1"]))).toBeUndefined();
  // A restored store continues with lower revisions.
  expect(await namesIn(cache, rowOf(5, ["a1", "b1"]), true)).toEqual(["a1", "b1"]);
});

test("a search that waits for another one ends with its own signal", async () => {
  const reading = Promise.withResolvers<undefined>();
  const read = { text: () => reading.promise, vectors: async () => undefined };
  const cache = new IndexCache(read, { model: undefined, maxBytes: 1 });
  const slow = cache.search({ row: rowOf(1, ["a"]), isConfirmed: false }, query, never);
  const leaving = new AbortController();
  const waiting = cache.search({ row: rowOf(1, ["a"]), isConfirmed: false }, query, leaving.signal);
  leaving.abort(new Error("left"));
  await expect(waiting).rejects.toThrow("left");
  reading.resolve(undefined);
  expect(await slow).toBeUndefined();
});

test("a cache that is full builds an index again, and finds the same", async () => {
  const cache = cacheOver();
  for (let round = 0; round < 2; round++) {
    for (let each = 0; each < 8; each++) {
      const row = rowOf(1, [`object-${each}`], `acme.c${each}`);
      expect(await namesIn(cache, row)).toEqual([`object-${each}`]);
    }
  }
  cache.forget("acme.c7");
  expect(await namesIn(cache, rowOf(1, ["object-7"], "acme.c7"))).toEqual(["object-7"]);
});

test("an index that is larger than the cache is built once, and others are dropped for it", async () => {
  let reads = 0;
  const passages = [{ text: "a cat", page: 0, firstLine: 1, lastLine: 1 }];
  const read = {
    text: async () => {
      reads += 1;
      return create(DocumentTextSchema, { passages });
    },
    vectors: async () => undefined,
  };
  const cache = new IndexCache(read, { model: undefined, maxBytes: 1 });
  for (const expected of [2, 2]) {
    await namesIn(cache, rowOf(1, ["a", "b"]));
    expect(reads).toBe(expected);
  }
  await namesIn(cache, rowOf(1, ["c"], "acme.other"));
  await namesIn(cache, rowOf(1, ["a", "b"]));
  expect(reads).toBe(5);
});
