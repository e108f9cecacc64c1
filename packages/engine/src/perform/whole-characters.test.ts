import { expect, test } from "vitest";
import { WholeCharacters } from "./whole-characters.ts";

test("no part ends within a character, and no character is lost", () => {
  const whole = new WholeCharacters();
  const parts = ["a\ud83d", "\ude00", "b", "\ud83d", "\ude00c", "😀"].map((part) =>
    whole.take(part),
  );
  expect(parts).toEqual(["a", "😀", "b", "", "😀c", "😀"]);
});
