import { expect, test } from "vitest";
import { newFrame } from "../state/frame.ts";
import { unitsFrom } from "../state/units.ts";
import { transcript } from "./summary-prompt.ts";

test.each([
  ["a message that is cut", `${"a".repeat(3_999)}😀 and more`, 100_000],
  ["a conversation of which only the end is shown", `${"😀".repeat(1_999)}a`, 4_000],
])("%s cuts no character", (_, text, maxTokens) => {
  const units = unitsFrom([0, 1].map(() => ({ kind: "user", text, isInput: true })));
  const frame = newFrame({ id: "", depth: 0, subtask: undefined, tools: new Map(), units });
  const whole = transcript(frame, 2, maxTokens);
  expect(whole.isWellFormed()).toBe(true);
  expect(whole.length).toBeGreaterThan(1_900);
});
