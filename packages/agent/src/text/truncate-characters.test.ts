import { expect, test } from "vitest";
import { firstCharacters, lastCharacters } from "./truncate-characters.ts";

test.each([
  ["ab😀cd", 2, "ab", "cd"],
  ["ab😀cd", 3, "ab", "cd"],
  ["ab😀cd", 4, "ab😀", "😀cd"],
  ["ab😀cd", 6, "ab😀cd", "ab😀cd"],
  ["😀", 1, "", ""],
])("%s is cut to at most %i units of whole characters", (text, maxLength, first, last) => {
  expect(firstCharacters(text, maxLength)).toBe(first);
  expect(lastCharacters(text, maxLength)).toBe(last);
});
