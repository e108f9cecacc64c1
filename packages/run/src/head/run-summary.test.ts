import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { RunEventSchema, RunSchema, RunStatus } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { emptyHead, foldHead } from "./run-head.ts";
import { runOf } from "./run-of.ts";
import { applyToSummary } from "./run-summary.ts";

type Event = NonNullable<MessageInitShape<typeof RunEventSchema>["event"]>;

const subtask = (ended: boolean, isError: boolean): Event => ({
  case: "subtask",
  value: { subtaskId: "s1", ended, isError },
});

test("a run says how many of its subtasks have failed", () => {
  const created: Event = { case: "runCreated", value: { tenant: "acme", agentId: "a" } };
  const failedAfter = (...events: readonly Event[]) => {
    const envelopes = [created, ...events].map((event, index) =>
      create(RunEventSchema, { runId: "run_1", sequence: index + 1, event }),
    );
    return runOf(foldHead(emptyHead, envelopes)).failedSubtasks;
  };
  expect(failedAfter()).toBe(0);
  expect(failedAfter(subtask(false, false), subtask(true, false))).toBe(0);
  expect(failedAfter(subtask(true, true), subtask(true, false), subtask(true, true))).toBe(2);
});

test("a run that an earlier version indexed does not say how many subtasks failed", () => {
  const earlier = create(RunSchema, { status: RunStatus.RUNNING });
  const failed = create(RunEventSchema, { sequence: 9, event: subtask(true, true) });
  expect(applyToSummary(earlier, failed).failedSubtasks).toBeUndefined();
});
