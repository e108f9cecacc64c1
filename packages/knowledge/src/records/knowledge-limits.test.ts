import { create } from "@bufbuild/protobuf";
import { StoredDocumentSchema } from "@reeve/contracts/extensions/knowledge";
import { expect, test } from "vitest";
import { assertRoom, hasRoomForVectors } from "./knowledge-limits.ts";

/** Returns the documents of a collection that has as much text, and as many passages, as it may have. */
function full(vectors?: { readonly dimensions: number }) {
  const document = { textBytes: BigInt(4 * 1_048_576), passageCount: 10_000 };
  return Array.from({ length: 4 }, () =>
    create(StoredDocumentSchema, { document, ...(vectors && { vectors }) }),
  );
}

test("a collection that is full fits into memory without its vectors, and not with long ones", () => {
  expect(() => assertRoom("c", full())).not.toThrow();
  expect(hasRoomForVectors(full())).toBe(true);
  expect(hasRoomForVectors(full({ dimensions: 1_024 }))).toBe(false);
});

/** Returns as many documents as a collection may have, with long names, from a URL. */
function fetchedFrom(url: string) {
  const document = { name: "n".repeat(255), sha256: "0".repeat(64), origin: { url } };
  return Array.from({ length: 500 }, () => create(StoredDocumentSchema, { document }));
}

test("a collection is full before its record is larger than a message of the store", () => {
  expect(() => assertRoom("c", fetchedFrom("u".repeat(200)))).not.toThrow();
  expect(() => assertRoom("c", fetchedFrom("u".repeat(2_048)))).toThrow(
    /collection c would have more than 786432 bytes of names and URLs of documents/,
  );
});
