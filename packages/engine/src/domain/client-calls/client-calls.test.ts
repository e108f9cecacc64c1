import type { JsonObject } from "@bufbuild/protobuf";
import { ClientCallState } from "@reeve/contracts/run";
import { PermissionClass, ToolStatus } from "@reeve/contracts/tool";
import { expect, test } from "vitest";
import { expectOrder } from "../../../test/support/event-order.ts";
import { PlayedRun } from "../../../test/support/run-player.ts";
import { nextEffects } from "../next-effects.ts";
import { personDeadlineMs } from "./client-calls.ts";

const { OPEN, TAKEN, ANSWERED, EXPIRED } = ClientCallState;

/** A run whose model has called tools of a client. */
function calling(answeredByPerson = false, count = 1): PlayedRun {
  const tool = {
    name: "pick",
    permissionClass: PermissionClass.NETWORK,
    source: "client:page",
    client: { timeout: { seconds: 30n }, answeredByPerson },
  };
  const calls = Array.from({ length: count }, (_, index) => ({ name: "pick", args: { index } }));
  return new PlayedRun({}, { tools: [tool] }).turn(...calls);
}

const callIdOf = (run: PlayedRun, index = 0) => run.frame().calls[index]?.call.callId ?? "";

/** A gateway records a change of a call. */
function changed(run: PlayedRun, state: ClientCallState, more: object = {}, index = 0): PlayedRun {
  const client = { clientId: "page", subject: "ann" };
  return run.write({
    case: "clientCall",
    value: { callId: callIdOf(run, index), state, ...client, ...more },
  });
}

const statusOf = (run: PlayedRun) => run.all("toolResult").at(-1)?.result?.metadata?.status;

// Requirement: CHAT-8
test("a call of a client's tool is opened with its arguments and deadline, and waits until then", () => {
  const run = calling();
  const [opened] = run.all("clientCall");
  expect(opened).toMatchObject({ state: OPEN, name: "pick", arguments: { index: 0 } });
  const deadlineMs = run.nowMs + 30_000;
  expect(nextEffects(run.state)).toMatchObject([{ kind: "await_client", deadlineMs }]);
  expect(run.all("toolResult")).toEqual([]);
});

test("the answer of a client is the result of its call, and the model continues", () => {
  const run = changed(calling(), TAKEN);
  changed(run, ANSWERED, { content: '{"color":"red"}', structured: { color: "red" } });
  expect(run.resultsSeen()).toEqual(['{"color":"red"}']);
  const structured: JsonObject | undefined = run.all("toolResult")[0]?.result?.structured;
  expect(structured).toEqual({ color: "red" });
  expect(nextEffects(run.state)).toMatchObject([{ kind: "call_model" }]);
  expectOrder(run.says("red it is").turn().events);
});

test("a failure that a client reports is a tool error", () => {
  const run = changed(changed(calling(), TAKEN), ANSWERED, { content: "no canvas", isError: true });
  expect(run.resultsSeen()).toEqual(["no canvas"]);
  expect(statusOf(run)).toBe(ToolStatus.ERROR);
});

test("a long answer is cut to what the model may read, and its object is left out", () => {
  const content = JSON.stringify({ text: "x".repeat(200_000) });
  const run = changed(calling(), ANSWERED, { content, structured: { text: "x" } });
  const { result } = run.all("toolResult")[0] ?? {};
  expect(result?.content.length).toBeLessThan(60_000);
  expect(result?.structured).toBeUndefined();
});

test.each([
  [
    "no client took",
    false,
    "no client that offers pick took the call in time; it was not executed",
  ],
  [
    "the client did not answer",
    true,
    "the client page took the call and did not answer in time; the outcome of the call is unknown",
  ],
])("a call that %s becomes a tool error at its deadline", (_, isTaken, content) => {
  const run = calling();
  if (isTaken) changed(run, TAKEN);
  changed(run, EXPIRED);
  expect(run.resultsSeen()).toEqual([content]);
  expect(statusOf(run)).toBe(ToolStatus.TIMED_OUT);
});

test("the first outcome of a call stays, whatever follows", () => {
  const run = changed(calling(false, 2), ANSWERED, { content: "first" });
  changed(run, ANSWERED, { content: "second" });
  changed(run, EXPIRED);
  expect(run.all("toolResult").map(({ result }) => result?.content)).toEqual(["first"]);
});

test("a run that waits only for a person needs no owner, and knows when it has to be woken", () => {
  const run = calling(true);
  expect(nextEffects(run.state)).toEqual([]);
  expect(personDeadlineMs(run.state)).toBe(run.nowMs + 30_000);
  changed(run, EXPIRED);
  expect(personDeadlineMs(run.state)).toBeUndefined();
});

test("a run that has other work too keeps its owner, which serves the deadline of the person", () => {
  const tools = [
    { name: "search" },
    { name: "pick", source: "client:page", client: { answeredByPerson: true } },
  ];
  const run = new PlayedRun({}, { tools }).turn({ name: "search" }, { name: "pick" });
  expect(nextEffects(run.state).map(({ kind }) => kind)).toEqual(["call_tool", "await_client"]);
  run.result(0);
  expect(nextEffects(run.state)).toEqual([]);
});

test("the wait for a person is not time that the run is worked on", () => {
  const run = calling(true);
  const before = run.state.worked;
  run.write({ case: "runParked", value: {} });
  run.nowMs += 3_600_000;
  changed(run, ANSWERED, { content: "done" });
  expect(run.state.worked.pastMs - before.pastMs).toBeLessThan(1_000);
});
