import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { ApprovalState } from "@reeve/contracts/approval";
import { RunEventSchema, RunStatus } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { decisionsOf, decisiveFailure, failuresOf } from "./findings.ts";
import { foldRun } from "./fold-run.ts";
import { emptyRun } from "./run-model.ts";

type Init = MessageInitShape<typeof RunEventSchema>;

function folded(...inits: readonly Init[]) {
  const run = emptyRun("run_1");
  inits.forEach((init, index) =>
    foldRun(run, create(RunEventSchema, { ...init, sequence: index + 1 })),
  );
  return run;
}

const subtask = (subtaskId: string, callId: string, more: object = {}, parentId = ""): Init => ({
  parentId,
  event: { case: "subtask", value: { subtaskId, callId, title: subtaskId, ...more } },
});
const called = (callId: string, name: string, parentId = ""): Init => ({
  parentId,
  event: { case: "toolCall", value: { callId, name } },
});

const approval = (approvalId: string, state: ApprovalState, more: object = {}): Init => ({
  event: {
    case: "approval",
    value: { approval: { approvalId, call: { name: "pay" }, state, ...more } },
  },
});

test("a failure deep in a run is listed with where it is and why", () => {
  const failed = { ended: true, isError: true, message: "the file is empty" };
  const run = folded(
    called("a", "run_subtask"),
    subtask("Outer", "a"),
    called("b", "run_subtask", "Outer"),
    subtask("Inner", "b", {}, "Outer"),
    called("c", "read_file", "Inner"),
    { event: { case: "toolResult", value: { result: { callId: "c" }, error: "no such file" } } },
    subtask("Inner", "b", failed, "Outer"),
    { event: { case: "toolResult", value: { result: { callId: "b" }, error: "failed" } } },
    subtask("Outer", "a", { ended: true }),
  );
  expect(failuresOf(run)).toEqual([
    {
      key: "c",
      path: ["Outer", "Inner"],
      name: "read_file",
      why: "no such file",
      costUsd: 0,
      isEnd: false,
      sequence: 6,
    },
    {
      key: "Inner",
      path: ["Outer"],
      name: "Inner",
      why: "the file is empty",
      costUsd: 0,
      isEnd: true,
      sequence: 7,
    },
  ]);
});

test("failures are listed in the order in which they failed", () => {
  const run = folded(
    called("a", "run_subtask"),
    subtask("Late", "a"),
    called("first", "read_file"),
    called("second", "read_file"),
    called("refused", "pay"),
    { event: { case: "toolResult", value: { result: { callId: "second" }, error: "gone" } } },
    { event: { case: "toolResult", value: { result: { callId: "first" }, error: "gone" } } },
    subtask("Late", "a", { ended: true, isError: true }),
    { event: { case: "toolResult", value: { result: { callId: "a" }, error: "failed" } } },
    { event: { case: "toolResult", value: { result: { callId: "refused" }, error: "no" } } },
  );
  expect(failuresOf(run).map(({ key }) => key)).toEqual(["second", "first", "Late", "refused"]);
});

test("who decided what is listed, and what still waits is not", () => {
  const { APPROVED, PENDING, TIMED_OUT } = ApprovalState;
  const run = folded(
    approval("x", APPROVED, {
      votes: [{ decision: { decidedBy: "ann" } }],
      decision: { decidedBy: "bob", reason: "checked" },
    }),
    approval("y", PENDING),
    approval("z", TIMED_OUT),
  );
  expect(decisionsOf(run)).toMatchObject([
    { key: "x", name: "pay", state: { name: "approved" }, by: "ann, bob", reason: "checked" },
    { key: "z", state: { name: "expired" }, by: "", reason: "" },
  ]);
});

test("the headline is the failure that ended the run, or else its outermost part", () => {
  const part = [
    called("a", "run_subtask"),
    subtask("Part", "a"),
    called("b", "read_file", "Part"),
    { event: { case: "toolResult", value: { result: { callId: "b" }, error: "no file" } } },
    subtask("Part", "a", { ended: true, isError: true, message: "the budget is used up" }),
    called("c", "read_file"),
    { event: { case: "toolResult", value: { result: { callId: "c" }, error: "gone" } } },
  ] as const satisfies readonly Init[];
  expect(decisiveFailure(failuresOf(folded(...part)))?.key).toBe("Part");
  const failed = folded(
    ...part,
    { event: { case: "error", value: { reason: "provider_failed", message: "overloaded" } } },
    { event: { case: "status", value: { status: RunStatus.ERROR } } },
  );
  expect(decisiveFailure(failuresOf(failed))).toMatchObject({
    name: "The run",
    why: "overloaded",
  });
  expect(decisiveFailure(failuresOf(folded(part[0])))).toBeUndefined();
});
