import * as fc from "fast-check";
import { expect, test } from "vitest";
import { LastLines } from "./last-lines.ts";

function lastOf(...chunks: readonly (string | Uint8Array)[]): string {
  const lines = new LastLines();
  for (const chunk of chunks) lines.add(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
  return lines.text();
}

test.each([
  ["the last lines that say something", "one\ntwo\n\nthree\n  \nfour\n", "two\nthree\nfour"],
  ["a line that has not ended", "one\ntw", "one\ntw"],
  ["of a line written over, what it says last", "1%\r50%\r100%\r\nnext\r\n", "100%\nnext"],
  ["of a line about to be written over, what it says", "10%\r", "10%"],
  ["no colours or movements", "\u001B[1;32mgreen\u001B[0m\u001B[2K\u0007", "green"],
  ["no titles of windows", "\u001B]0;evil\u0007text\u001B]8;;http://x\u001B\\link", "textlink"],
  ["no other controls", "a\u0000b\u0008c\u009Bd\u2028e", "abcde"],
  ["nothing of blanks", " \n\t\n", ""],
])("shows %s", (_, written, shown) => {
  expect(lastOf(written)).toBe(shown);
});

test("counts all that was written", () => {
  const lines = new LastLines();
  for (let n = 0; n < 100; n++) lines.add(Buffer.alloc(1_000));
  expect(lines.total).toBe(100_000);
});

test("is bounded and the same however the output is cut into chunks", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: "grapheme", maxLength: 300 }), { maxLength: 8 }),
      fc.integer({ min: 1, max: 64 }),
      (parts, size) => {
        const bytes = Buffer.from(parts.join("\n"));
        const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
          bytes.subarray(index * size, (index + 1) * size),
        );
        const text = lastOf(...chunks);
        expect(text).toBe(lastOf(bytes));
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1_200);
        expect(text.split("\n").length).toBeLessThanOrEqual(3);
      },
    ),
  );
});

test("does not begin within a character", () => {
  for (let shift = 0; shift < 4; shift++) {
    const text = lastOf("😀".repeat(500) + "x".repeat(shift));
    expect(text).not.toContain("\uFFFD");
  }
});
