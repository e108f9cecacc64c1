import { create } from "@bufbuild/protobuf";
import { ApprovalSchema, ApprovalState } from "@reeve/contracts/approval";
import { ToolCallSchema, ToolDescriptorSchema, ToolResultSchema } from "@reeve/contracts/tool";
import { expect, test } from "vitest";
import type { Call } from "../state/frame.ts";
import { scheduleCalls } from "./schedule-calls.ts";

const tools = new Map(
  [
    create(ToolDescriptorSchema, { name: "free" }),
    create(ToolDescriptorSchema, { name: "alone", parallelSafe: false }),
  ].map((tool) => [tool.name, tool]),
);

const call = (name: string, callId: string): Call => ({
  call: create(ToolCallSchema, { name, callId }),
  requestedAtMs: 0,
  startedAtMs: undefined,
  approval: undefined,
  questions: [],
  result: undefined,
});
const done = (pending: Call): Call => ({
  ...pending,
  startedAtMs: 0,
  result: create(ToolResultSchema),
});
const waiting = (pending: Call): Call => ({
  ...pending,
  approval: create(ApprovalSchema, { state: ApprovalState.PENDING }),
});
const ids = (calls: readonly Call[], parallel = 8) =>
  scheduleCalls({ calls, tools }, parallel).map((scheduled) => scheduled.call.callId);

// Requirement: PERM-1
test("parallel-safe calls run together and the others one by one, in order", () => {
  const calls = [call("alone", "a"), call("free", "b"), call("alone", "c"), call("free", "d")];
  expect(ids(calls)).toEqual(["b", "d", "a"]);
  expect(ids(calls.map((each, index) => (index === 0 ? done(each) : each)))).toEqual([
    "b",
    "d",
    "c",
  ]);
});

test("calls beyond the limit go to the end of the serial queue", () => {
  const calls = [call("free", "a"), call("free", "b"), call("free", "c"), call("alone", "d")];
  expect(ids(calls, 2)).toEqual(["a", "b"]);
  const later = calls.map((each, index) => (index < 2 ? done(each) : each));
  expect(ids(later, 2)).toEqual(["d"]);
  expect(
    ids(
      later.map((each, index) => (index === 3 ? done(each) : each)),
      2,
    ),
  ).toEqual(["c"]);
});

// Requirement: LOOP-5
test("with a limit of 1, all calls run in the order of the model", () => {
  const calls = [call("alone", "a"), call("free", "b"), call("alone", "c")];
  expect(ids(calls, 1)).toEqual(["a"]);
  const later = calls.map((each, index) => (index === 0 ? done(each) : each));
  expect(ids(later, 1)).toEqual(["b"]);
});

test("a call that waits for an approval blocks only the serial calls behind it", () => {
  const calls = [waiting(call("alone", "a")), call("alone", "b"), call("free", "c")];
  expect(ids(calls)).toEqual(["c"]);
});
