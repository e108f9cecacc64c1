import { expect, test } from "vitest";
import { firstCharacters, lastCharacters } from "./truncate-characters.ts";

test.each([
  ["ab😀cd", 2, "ab", "cd"],
  ["ab😀cd", 3, "ab", "cd"],
  ["ab😀cd", 4, "ab😀", "😀cd"],
  ["ab😀cd", 6, "ab😀cd", "ab😀cd"],
  ["😀", 1, "", ""],
])("of %s at most %i units are whole characters", (text, most, first, last) => {
  expect(firstCharacters(text, most)).toBe(first);
  expect(lastCharacters(text, most)).toBe(last);
});
