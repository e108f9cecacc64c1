import * as fc from "fast-check";
import { expect, test } from "vitest";
import { anyText } from "../test/any-text.ts";
import { endCharacters, queryWords, wordsOf } from "./words-of.ts";

test.each([
  ["case", "CELLO", "cello"],
  ["accents", "Café São José", "cafe sao jose"],
  ["accents, whichever way they are written", "caf\u00e9", "cafe\u0301"],
  ["forms of the same character", "ｃｅｌｌｏ", "cello"],
  ["half-width katakana", "ｺｰﾋｰ", "コーヒー"],
  ["Arabic vowels that are left out", "كِتَاب", "كتاب"],
])("%s make no difference", (_, text, other) => {
  expect(wordsOf(text)).toEqual(wordsOf(other));
  expect(wordsOf(text)).not.toEqual([]);
});

test.each([
  ["Japanese voiced and voiceless", "がく", "かく"],
  ["Hindi vowels", "कमल", "कामिल"],
  ["Thai vowels", "กิน", "กน"],
])("marks that are letters do: %s", (_, text, other) => {
  expect(wordsOf(text)).not.toEqual(wordsOf(other));
});

test("of scripts without spaces, neighbouring characters are compared, and ideographs one by one", () => {
  expect(wordsOf("東京に")).toEqual(["東", "京", "東京", "京に"]);
  expect(wordsOf("コーヒー")).toEqual(["コー", "ーヒ", "ヒー"]);
  expect(wordsOf("커피를")).toEqual(["커피", "피를"]);
});

test("words of several scripts stand apart without a space", () => {
  expect(wordsOf("iPhoneを買う2024年")).toContain("iphone");
  expect(wordsOf("iPhoneを買う2024年")).toContain("2024");
});

test("an emoji is a word, and what only shapes it is none", () => {
  expect(wordsOf("plays 🎸 ❤️")).toEqual(["plays", "🎸", "❤"]);
});

test("words that every English text has are none", () => {
  expect(wordsOf("What is it that the user's friend doesn't have?")).toEqual(["friend"]);
});

test("any text is read without a fault", () => {
  fc.assert(
    fc.property(anyText(60), (text) => {
      expect(wordsOf(text).every((word) => word !== "")).toBe(true);
    }),
  );
});

test("of a long query both ends are read, and no more", () => {
  const long = `cello ${"filler ".repeat(40_000)} violin ${"x ".repeat(endCharacters)} piano`;
  const words = queryWords(long);
  expect(words.has("cello")).toBe(true);
  expect(words.has("piano")).toBe(true);
  expect(words.has("violin")).toBe(false);
});

test("a query of any content has no more words than its ends have characters", () => {
  fc.assert(
    fc.property(anyText(60), (piece) => {
      // An ideograph is a word beside the pair that it ends.
      const words = queryWords(piece.repeat(2_000));
      expect(words.size).toBeLessThanOrEqual(4 * endCharacters);
    }),
    { numRuns: 30 },
  );
});
