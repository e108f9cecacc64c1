import * as fc from "fast-check";
import { expect, test } from "vitest";
import { preview } from "./preview.ts";

const note = "[there is more]";

test("shows the beginning and the end of a text, with the note between them", () => {
  const shown = preview(`first${"x".repeat(10_000)}last`, note, 200);
  expect(shown).toMatch(/^first.*\n\[there is more\]\n.*last$/s);
  expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(200);
});

test("stays within its bytes and cuts no character, whatever the text", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme", minLength: 300, maxLength: 600 }),
      fc.integer({ min: 20, max: 250 }),
      (text, maxBytes) => {
        const shown = preview(text, note, maxBytes);
        expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(Math.max(maxBytes, note.length + 2));
        expect(shown.split("\uFFFD").length).toBeLessThanOrEqual(text.split("\uFFFD").length);
      },
    ),
  );
});
