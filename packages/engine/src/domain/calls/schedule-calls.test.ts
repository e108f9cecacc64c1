import { create } from "@bufbuild/protobuf";
import { ApprovalSchema, ApprovalState } from "@reeve/contracts/approval";
import { ToolCallSchema, ToolDescriptorSchema, ToolResultSchema } from "@reeve/contracts/tool";
import { expect, test } from "vitest";
import type { Call } from "../state/frame.ts";
import type { OutgoingCall } from "./schedule-calls.ts";
import { admitCalls, scheduleCalls } from "./schedule-calls.ts";

const tools = new Map(
  [
    create(ToolDescriptorSchema, { name: "free" }),
    create(ToolDescriptorSchema, { name: "alone", parallelSafe: false }),
    create(ToolDescriptorSchema, { name: "write", exclusiveLock: "disk" }),
  ].map((tool) => [tool.name, tool]),
);

const call = (name: string, callId: string): Call => ({
  call: create(ToolCallSchema, { name, callId }),
  requestedAtMs: 0,
  startedAtMs: undefined,
  approval: undefined,
  permission: undefined,
  progressReports: 0,
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

// Requirement: PERM-1, LOOP-2
test("parallel-safe calls run together, and the others after them, one by one, in order", () => {
  const calls = [call("alone", "a"), call("free", "b"), call("alone", "c"), call("free", "d")];
  expect(ids(calls)).toEqual(["b", "d"]);
  const later = calls.map((each) => (each.call.name === "free" ? done(each) : each));
  expect(ids(later)).toEqual(["a"]);
  expect(ids(later.map((each, index) => (index === 0 ? done(each) : each)))).toEqual(["c"]);
});

// Requirement: LOOP-2
test("nothing starts beside a call that is not parallel-safe", () => {
  const running = { ...call("alone", "a"), startedAtMs: 0 };
  expect(ids([running, call("free", "b"), call("write", "c")])).toEqual(["a"]);
});

test("a call that is not parallel-safe does not wait for a parallel-safe one that waits for an approval", () => {
  expect(ids([waiting(call("free", "a")), call("alone", "b")])).toEqual(["b"]);
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

test("a call that is approved later takes no slot of the calls in progress", () => {
  const running = (name: string, callId: string) => ({ ...call(name, callId), startedAtMs: 0 });
  const [first, second] = [running("free", "b"), running("free", "c")];
  expect(ids([call("free", "a"), first], 1)).toEqual(["b"]);
  expect(ids([call("free", "a"), first, second], 2)).toEqual(["b", "c"]);
  expect(ids([call("free", "a"), first, done(second)], 2)).toEqual(["b", "a"]);
  expect(ids([call("alone", "a"), running("write", "b")])).toEqual(["b"]);
});

test("a call that waits for a person at a client occupies no slot, and nothing runs beside it that may not", () => {
  const clientCall = { deadlineMs: 1, isAnsweredByPerson: true, clientId: "", outcome: undefined };
  const open = { ...call("free", "a"), startedAtMs: 0, clientCall };
  expect(ids([open, call("free", "b"), call("alone", "c")], 1)).toEqual(["b"]);
  expect(ids([open, done(call("free", "b")), call("alone", "c")], 1)).toEqual([]);
  const tool = create(ToolDescriptorSchema, { name: "free" });
  const frame = {} as OutgoingCall["frame"];
  const next = { frame, call: call("free", "b"), tool };
  expect(admitCalls([{ frame, call: open, tool }], [next], 1)).toEqual([next]);
});
