import { create } from "@bufbuild/protobuf";
import type { ThreadEvent } from "@reeve/contracts/thread";
import { ThreadEventSchema } from "@reeve/contracts/thread";
import { expect, test } from "vitest";
import { threadViolations } from "./support/check-threads.ts";

type Turn = "turnQueued" | "turnStarted" | "turnEnded";

function threadOf(...turns: readonly (readonly [Turn, string])[]): readonly ThreadEvent[] {
  return turns.map(([kind, runId], index) =>
    create(ThreadEventSchema, {
      threadId: "t",
      sequence: index + 1,
      event: { case: kind, value: { runId } },
    }),
  );
}

const queue = [
  ["turnQueued", "a"],
  ["turnStarted", "a"],
  ["turnQueued", "b"],
] as const;
const rest = [
  ["turnEnded", "a"],
  ["turnStarted", "b"],
  ["turnEnded", "b"],
] as const;
const violations = (events: readonly ThreadEvent[]) => threadViolations("t", events, ["a", "b"]);

test("consecutive turns and a withdrawn turn have no violations", () => {
  expect(violations(threadOf(...queue, ...rest))).toEqual([]);
  expect(violations(threadOf(...queue, ["turnEnded", "b"], ["turnEnded", "a"]))).toEqual([]);
});

test.each([
  [
    "two turns at once",
    /b starts while a is active/,
    threadOf(...queue, ["turnStarted", "b"], ...rest),
  ],
  [
    "a turn that overtakes an earlier one",
    /b starts out of turn/,
    threadOf(["turnQueued", "a"], ["turnQueued", "b"], ["turnStarted", "b"]),
  ],
  ["a turn without an end", /the turn of b has not ended/, threadOf(...queue, ["turnEnded", "a"])],
  ["a turn that ends twice", /a ends twice/, threadOf(...queue, ["turnEnded", "a"], ...rest)],
  ["a run that is queued twice", /b is queued twice/, threadOf(...queue, ["turnQueued", "b"])],
  ["a gap", /event 2 has the sequence 3/, threadOf(...queue, ...rest).toSpliced(1, 1)],
])("finds %s", (_, finding, events) => {
  expect(violations(events)).toContainEqual(expect.stringMatching(finding));
});
