import { expect, test } from "vitest";
import { readingLength, readingLengthOfBytes } from "./reading-length.ts";

const encoder = new TextEncoder();

test.each([
  ["nothing", "", 0],
  ["English", "four words of text", 18],
  ["other Latin scripts, and their punctuation", "naïve Łódź – “quoted” Việt", 26],
  ["Chinese", "漢字", 8],
  ["Cyrillic beside Latin", "a мир", 14],
  ["an emoji", "😀", 8],
])("%s", (_, text, length) => {
  expect(readingLength(text)).toBe(length);
});

test("the length counted in bytes is about the same", () => {
  const text = "a naïve мир of 漢字";
  expect(readingLengthOfBytes(encoder.encode(text))).toBe(readingLength(text));
});
