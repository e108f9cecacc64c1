import { expect, test } from "vitest";
import { shownExactly } from "./shown-exactly.ts";

const odd = "a\u00a0\\ 'b'  \"c\"\n\t\u202e\u{e0041}\u200b";

test("a text is shown as it is, or as JSON that stands for the same text", () => {
  expect(shownExactly('run(a = "b  c")')).toBe('run(a = "b  c")');
  const shown = shownExactly(odd);
  expect(shown).toMatch(/^[\x20-\x7e]+$/);
  expect(JSON.parse(shown)).toBe(odd);
});
