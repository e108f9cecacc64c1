import type { MessageInitShape } from "@bufbuild/protobuf";
import { create, toBinary } from "@bufbuild/protobuf";
import type { RunEvent } from "@reeve/contracts/run";
import { Phase, RunEventSchema, RunStatus } from "@reeve/contracts/run";
import type { HistoryMessage } from "@reeve/contracts/thread";
import { HistoryMessageSchema, TurnOutcome } from "@reeve/contracts/thread";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { fitHistory } from "./fit-history.ts";
import { turnEnded } from "../turn-ended.ts";
import { turnHistory } from "./turn-history.ts";

type Init = MessageInitShape<typeof RunEventSchema>;

const eventsOf = (inits: readonly Init[]): readonly RunEvent[] =>
  inits.map((init, index) => create(RunEventSchema, { sequence: index + 1, ...init }));

/** The messages in short: `user hello`, `assistant looking [a b]`, `result a found`. */
const inShort = (messages: readonly HistoryMessage[]) =>
  messages.map(({ message }) => {
    switch (message.case) {
      case "user":
        return `user ${message.value.text}`;
      case "assistant": {
        const ids = message.value.calls.map(({ providerCallId }) => providerCallId).join(" ");
        return `assistant ${message.value.text} [${ids}]`;
      }
      case "toolResult":
        return `result ${message.value.providerCallId} ${message.value.content}`;
      case undefined:
        return "?";
    }
    return "?";
  });

const asked: Init = { event: { case: "runCreated", value: { input: "go" } } };
const begun: Init = { event: { case: "modelCallStarted", value: {} } };
const text = (
  words: string,
  more: Pick<RunEvent, "phase"> | Pick<RunEvent, "parentId"> | object = {},
): Init => ({
  ...more,
  event: { case: "text", value: { text: words } },
});
const call = (callId: string): Init => ({
  event: { case: "toolCall", value: { callId, name: "search" } },
});
const turn = (...providerCallIds: string[]): Init => ({
  event: { case: "modelTurn", value: { providerCallIds, callIds: [], format: "f" } },
});
const result = (callId: string, content: string): Init => ({
  event: { case: "toolResult", value: { result: { callId, content } } },
});

const history = (...inits: readonly Init[]) => inShort(turnHistory(eventsOf(inits)));

test("a turn has the input, the answers, and the results in the order of the calls", () => {
  expect(
    history(
      asked,
      begun,
      text("looking"),
      call("a"),
      call("b"),
      turn("p0", "p1"),
      result("b", "second"),
      result("a", "first"),
      { event: { case: "messageInjected", value: { message: { text: "and?" } } } },
      begun,
      text("found"),
      turn(),
    ),
  ).toEqual([
    "user go",
    "assistant looking [p0 p1]",
    "result p0 first",
    "result p1 second",
    "user and?",
    "assistant found []",
  ]);
});

// Requirement: PLAN-3, CHAT-3
test("subtasks and the planner are excluded", () => {
  expect(
    history(
      asked,
      text("planning", { phase: Phase.PLANNER }),
      { ...turn(), phase: Phase.PLANNER },
      text("child", { parentId: "a", depth: 1 }),
      { ...turn(), parentId: "a" },
      begun,
      text("done"),
      turn(),
    ),
  ).toEqual(["user go", "assistant done []"]);
});

test("a call without a result gets one, and text that was streaming is kept", () => {
  expect(history(asked, begun, call("a"), turn("p0"), begun, text("half an ans"))).toEqual([
    "user go",
    "assistant  [p0]",
    expect.stringMatching(/^result p0 the turn ended before this call did/),
    "assistant half an ans []",
  ]);
});

test("voided text and the calls of an attempt without a turn are excluded", () => {
  const voided: Init = { event: { case: "textVoided", value: {} } };
  expect(
    history(asked, begun, text("wrong"), call("x"), voided, begun, text("right"), turn()),
  ).toEqual(["user go", "assistant right []"]);
});

test("a failed run leaves its outcome, its output, and its tree", () => {
  const ended = turnEnded(
    "run_a",
    eventsOf([
      asked,
      begun,
      call("a"),
      turn("p0"),
      text("partial"),
      { event: { case: "status", value: { status: RunStatus.ERROR } } },
    ]),
  );
  expect(ended).toMatchObject({
    outcome: TurnOutcome.ERROR,
    output: "partial",
    executionTree: { nodes: [{ id: "a", name: "search", unfinished: true }] },
  });
});

test("every call is followed by exactly one result, in every run", () => {
  const event = fc.oneof(
    fc.constant(begun),
    fc.constant(turn("p0", "p1")),
    fc.string().map((words) => text(words)),
    fc.constantFrom("a", "b", "c").map((id) => call(id)),
    fc.constantFrom("a", "b", "c").map((id) => result(id, "found")),
  );
  fc.assert(
    fc.property(fc.array(event, { maxLength: 40 }), (inits) => {
      const messages = turnHistory(eventsOf([asked, ...inits]));
      const made = messages.flatMap(({ message }, index) =>
        message.case === "assistant"
          ? message.value.calls.map(({ providerCallId }, at) => [index + 1 + at, providerCallId])
          : [],
      );
      const given = messages.flatMap(({ message }, index) =>
        message.case === "toolResult" ? [[index, message.value.providerCallId]] : [],
      );
      expect(given).toEqual(made);
    }),
  );
});

const large = (content: string): HistoryMessage =>
  create(HistoryMessageSchema, { message: { case: "toolResult", value: { content } } });

test("the oldest results of a turn that is too large are cut first, and say so", () => {
  const messages = Array.from({ length: 20 }, () => large("x".repeat(50_000)));
  const fitting = fitHistory(messages, 512 * 1024);
  const bytes = fitting.map((message) => toBinary(HistoryMessageSchema, message).length);
  expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(512 * 1024);
  expect(inShort(fitting)[0]).toContain("[cut: 50000 bytes in all");
  expect(fitting.at(-1)).toEqual(messages.at(-1));
});
