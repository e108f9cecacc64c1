import * as fc from "fast-check";
import { expect, test } from "vitest";
import { truncateToBytes } from "./truncate-to-bytes.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text).length;

test("a text that fits is unchanged", () => {
  expect(truncateToBytes("größe", 7)).toBe("größe");
});

test("a text that does not fit ends with a note about how much is shown", () => {
  expect(truncateToBytes("x".repeat(200), 100)).toMatch(
    /^x+\n\[cut: 200 bytes in all, the first 100 shown\]$/,
  );
});

test("a cut text never exceeds its limit, splits a character, or has content that is not in the text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), fc.nat(400), (text, maxBytes) => {
      const cut = truncateToBytes(text, maxBytes);
      expect(bytesOf(cut)).toBeLessThanOrEqual(
        Math.max(maxBytes, bytesOf(text) <= maxBytes ? maxBytes : 0),
      );
      expect(cut.isWellFormed()).toBe(true);
      expect(
        text.startsWith(cut.replace(/\n\[cut: \d+ bytes in all, the first \d+ shown\]$/, "")),
      ).toBe(true);
    }),
  );
});
