import { ApprovalState } from "@reeve/contracts/approval";
import { expect, test } from "vitest";
import { PlayedRun } from "../../../test/support/run-player.ts";
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

// Requirement: HITL-2
test("the summary of a call names the arguments with which a person replaced those of the model", () => {
  const spec = { hitlTools: ["search"], approvalPolicy: { allowEditedArguments: true } };
  const run = new PlayedRun(spec).turn({ name: "search", args: { q: "a" } }).parks();
  run
    .decides(ApprovalState.APPROVED, { edited: { q: "b" } })
    .claimedAnew()
    .result(0, "found");
  expect(transcript(run.frame(), 2, 1_000)).toMatch(
    /^Call of search: \{"q":"a"\}\n\[a person replaced .*\{"q":"b"\}\]\nResult: found$/m,
  );
});
