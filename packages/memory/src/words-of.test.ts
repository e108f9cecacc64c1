import * as fc from "fast-check";
import { expect, test } from "vitest";
import { anyText } from "../test/any-text.ts";
import { endCharacters, queryWords, wordsOf } from "./words-of.ts";

test.each([
  ["case", "CELLO", "cello"],
  ["accents", "Café São José", "cafe sao jose"],
  ["accents, precomposed or combining", "caf\u00e9", "cafe\u0301"],
  ["full-width characters", "ｃｅｌｌｏ", "cello"],
  ["half-width katakana", "ｺｰﾋｰ", "コーヒー"],
  ["Arabic vowels", "كِتَاب", "كتاب"],
])("%s are ignored", (_, text, other) => {
  expect(wordsOf(text)).toEqual(wordsOf(other));
  expect(wordsOf(text)).not.toEqual([]);
});

test.each([
  ["Japanese voiced and voiceless", "がく", "かく"],
  ["Hindi vowels", "कमल", "कामिल"],
  ["Thai vowels", "กิน", "กน"],
])("marks that count as letters are not ignored: %s", (_, text, other) => {
  expect(wordsOf(text)).not.toEqual(wordsOf(other));
});

test("words of scripts without spaces are pairs of adjacent characters, and each ideograph", () => {
  expect(wordsOf("東京に")).toEqual(["東", "京", "東京", "京に"]);
  expect(wordsOf("コーヒー")).toEqual(["コー", "ーヒ", "ヒー"]);
  expect(wordsOf("커피를")).toEqual(["커피", "피를"]);
});

test("words of different scripts are separated without a space", () => {
  expect(wordsOf("iPhoneを買う2024年")).toContain("iphone");
  expect(wordsOf("iPhoneを買う2024年")).toContain("2024");
});

test("an emoji is a word, but a variation selector is not", () => {
  expect(wordsOf("plays 🎸 ❤️")).toEqual(["plays", "🎸", "❤"]);
});

test("common English words are left out", () => {
  expect(wordsOf("What is it that the user's friend doesn't have?")).toEqual(["friend"]);
});

test("any text can be split", () => {
  fc.assert(
    fc.property(anyText(60), (text) => {
      expect(wordsOf(text).every((word) => word !== "")).toBe(true);
    }),
  );
});

test("only both ends of a long query are read", () => {
  const long = `cello ${"filler ".repeat(40_000)} violin ${"x ".repeat(endCharacters)} piano`;
  const words = queryWords(long);
  expect(words.has("cello")).toBe(true);
  expect(words.has("piano")).toBe(true);
  expect(words.has("violin")).toBe(false);
});

test("the number of words of any query is bounded by the length of its ends", () => {
  fc.assert(
    fc.property(anyText(60), (piece) => {
      // Each ideograph is a word, as is the pair that it ends.
      const words = queryWords(piece.repeat(2_000));
      expect(words.size).toBeLessThanOrEqual(4 * endCharacters);
    }),
    { numRuns: 30 },
  );
});
