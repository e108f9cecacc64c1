import { expect, test } from "vitest";
import { changed, newHistory, redone, undone } from "./history.ts";

test("changes about the same subject are undone together, and come back", () => {
  let history = newHistory("");
  for (const name of ["a", "ab", "abc"]) history = changed(history, name, "name");
  history = changed(history, "other");
  history = undone(history);
  expect(history.present).toBe("abc");
  history = undone(history);
  expect(history.present).toBe("");
  expect(undone(history)).toBe(history);
  expect(redone(redone(history)).present).toBe("other");
  // Another change takes the place of what was undone.
  expect(redone(changed(history, "next")).present).toBe("next");
});
