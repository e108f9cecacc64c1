import { ErrorReason } from "@reeve/contracts/error";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { pageOf } from "./page.ts";

const itself = (item: string) => item;
const isAfter = (key: string, previous: string) => key > previous;
const page = (items: readonly string[], pageSize: number, pageToken = "") =>
  pageOf(items, { pageSize, pageToken }, itself, isAfter);
const items = (count: number) => Array.from({ length: count }, (_, index) => `${10_000 + index}`);

test("a page has 100 items by default, and never more than 1000", () => {
  expect(page(items(101), 0).items).toHaveLength(100);
  expect(page(items(2_000), 5_000).items).toHaveLength(1_000);
  expect(page(items(100), 0).nextPageToken).toBe("");
  expect(page([], 7)).toEqual({ items: [], nextPageToken: "" });
});

test("consecutive pages have every item once", () => {
  const keys = fc.uniqueArray(fc.string({ unit: "binary" })).map((all) => all.toSorted());
  fc.assert(
    fc.property(keys, fc.integer({ min: 1, max: 7 }), (all, size) => {
      const seen: string[] = [];
      let token: string | undefined = "";
      while (token !== undefined) {
        const next = page(all, size, token);
        seen.push(...next.items);
        token = next.nextPageToken === "" ? undefined : next.nextPageToken;
      }
      expect(seen).toEqual(all);
    }),
  );
});

test("a page of large items ends early, but has at least one", () => {
  const sizes = [400_000, 600_000, 100_000, 2_000_000, 5];
  const all = items(sizes.length);
  const pages: number[] = [];
  let pageToken = "";
  do {
    const request = { pageSize: 0, pageToken };
    const bytesOf = (item: string) => sizes[all.indexOf(item)] ?? 0;
    const next = pageOf(all, request, itself, isAfter, bytesOf);
    pages.push(next.items.length);
    pageToken = next.nextPageToken;
  } while (pageToken !== "");
  expect(pages).toEqual([2, 1, 1, 1]);
});

test.each(["nonsense", "k:a", "🙂", "azph=", " ", Buffer.from("x:a").toString("base64url"), "\0"])(
  "%j is not a page token",
  (token) => {
    expect(() => page(items(3), 1, token)).toThrow(
      expect.objectContaining({
        kind: "invalid",
        reason: ErrorReason.INVALID_REQUEST,
        violations: [expect.objectContaining({ field: "page_token" })],
      }),
    );
  },
);
