import * as fc from "fast-check";
import { expect, test } from "vitest";
import { truncateToBytes } from "./truncate-to-bytes.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text).length;

test("a text that fits stays as it is", () => {
  expect(truncateToBytes("größe", 7)).toBe("größe");
});

test("one that does not says how much of it is shown", () => {
  expect(truncateToBytes("x".repeat(200), 100)).toMatch(
    /^x+\n\[cut: 200 bytes in all, the first 100 shown\]$/,
  );
});

test("no cut is longer than it may be, ends within a character, or has what is not in the text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), fc.nat(400), (text, most) => {
      const cut = truncateToBytes(text, most);
      expect(bytesOf(cut)).toBeLessThanOrEqual(Math.max(most, bytesOf(text) <= most ? most : 0));
      expect(cut.isWellFormed()).toBe(true);
      expect(
        text.startsWith(cut.replace(/\n\[cut: \d+ bytes in all, the first \d+ shown\]$/, "")),
      ).toBe(true);
    }),
  );
});
