import * as fc from "fast-check";
import { expect, test } from "vitest";
import { preview } from "./preview.ts";

const note = "[there is more]";

test("shows beginning and end of a text, and what is between them", () => {
  const shown = preview(`first${"x".repeat(10_000)}last`, note, 200);
  expect(shown).toMatch(/^first.*\n\[there is more\]\n.*last$/s);
  expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(200);
});

test("keeps within its bytes and cuts no character in two, whatever the text", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme", minLength: 300, maxLength: 600 }),
      fc.integer({ min: 20, max: 250 }),
      (text, most) => {
        const shown = preview(text, note, most);
        expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(Math.max(most, note.length + 2));
        expect(shown.split("\uFFFD").length).toBeLessThanOrEqual(text.split("\uFFFD").length);
      },
    ),
  );
});
