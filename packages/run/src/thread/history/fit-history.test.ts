import type { MessageInitShape } from "@bufbuild/protobuf";
import { create, toBinary } from "@bufbuild/protobuf";
import type { RunEvent } from "@reeve/contracts/run";
import { RunEventSchema, RunStatus } from "@reeve/contracts/run";
import type { HistoryMessage } from "@reeve/contracts/thread";
import { HistoryMessageSchema, ThreadBatchSchema } from "@reeve/contracts/thread";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { fitHistory } from "./fit-history.ts";
import { bytesOf } from "./history-length.ts";
import { turnEnded } from "../turn-ended.ts";

const user = (text: string) =>
  create(HistoryMessageSchema, { message: { case: "user", value: { text } } });
const result = (providerCallId: string, content: string) =>
  create(HistoryMessageSchema, {
    message: { case: "toolResult", value: { providerCallId, name: "search", content } },
  });
const calling = (providerCallId: string, text: string, argumentsText: string) =>
  create(HistoryMessageSchema, {
    message: {
      case: "assistant",
      value: {
        text,
        messageJson: new TextEncoder().encode(JSON.stringify({ content: text, argumentsText })),
        format: "f",
        calls: [{ providerCallId, name: "search", argumentsText }],
      },
    },
  });

const bytes = (messages: readonly HistoryMessage[]) =>
  messages.reduce((sum, message) => sum + bytesOf(message), 0);

/** The ids of the calls and of the results, in order. */
function idsOf(messages: readonly HistoryMessage[]) {
  return {
    calls: messages.flatMap(({ message }) =>
      message.case === "assistant" ? message.value.calls.map((call) => call.providerCallId) : [],
    ),
    results: messages.flatMap(({ message }) =>
      message.case === "toolResult" ? [message.value.providerCallId] : [],
    ),
  };
}

test("messages that fit are not changed", () => {
  const messages = [user("go"), calling("a", "looking", "{}"), result("a", "found")];
  expect(fitHistory(messages, 10_000)).toEqual(messages);
});

test("old results are cut before texts", () => {
  const messages = ["a", "b"].flatMap((id) => [
    calling(id, "y".repeat(4_000), "{}"),
    result(id, "x".repeat(20_000)),
  ]);
  const fitting = fitHistory(messages, 40_000);
  expect(fitting[1]?.message.value).toMatchObject({
    content: expect.stringContaining("[cut: 20000 bytes in all"),
  });
  expect([fitting[0], ...fitting.slice(2)]).toEqual([messages[0], ...messages.slice(2)]);
});

test("a cut turn keeps its text and calls, and their arguments are still JSON", () => {
  const [cut] = fitHistory(
    [calling("a", "z".repeat(9_000), `{"q":"${"z".repeat(9_000)}"}`)],
    5_000,
  );
  expect(cut?.message.value).toMatchObject({
    messageJson: new Uint8Array(),
    format: "",
    calls: [{ providerCallId: "a", argumentsText: "{}" }],
  });
});

test("any turn fits, and every call is followed by its result", () => {
  const content = fc.integer({ min: 0, max: 30_000 }).map((length) => "é".repeat(length));
  const call = fc.tuple(fc.uuid(), content, content, content);
  fc.assert(
    fc.property(fc.array(call, { maxLength: 60 }), content, (calls, input) => {
      const messages = [
        user(input),
        ...calls.flatMap(([id, text, args, found]) => [
          calling(id, text, JSON.stringify({ args })),
          result(id, found),
        ]),
      ];
      const fitting = fitHistory(messages, 60_000);
      expect(bytes(fitting)).toBeLessThanOrEqual(60_000);
      const ids = idsOf(fitting);
      expect(ids.results).toEqual(ids.calls);
      expect(ids.calls).toEqual(idsOf(messages).calls.slice(-ids.calls.length || messages.length));
    }),
    { numRuns: 40 },
  );
});

test("the end of the largest turn fits in a message of the bus", () => {
  type Init = NonNullable<MessageInitShape<typeof RunEventSchema>["event"]>;
  const inits: Init[] = [{ case: "runCreated", value: { input: "日".repeat(80_000) } }];
  for (let index = 0; index < 2_000; index++) {
    const callId = `c${index}`;
    const query = "問".repeat(200);
    inits.push(
      { case: "modelCallStarted", value: {} },
      { case: "toolCall", value: { callId, name: "search", arguments: { query } } },
      { case: "modelTurn", value: { providerCallIds: [callId], messageJson: new Uint8Array(900) } },
      { case: "toolResult", value: { result: { callId, content: "答".repeat(3_000) } } },
    );
  }
  inits.push(
    { case: "modelCallStarted", value: {} },
    { case: "text", value: { text: "末".repeat(300_000) } },
    { case: "error", value: { reason: "provider_failed", message: "!".repeat(100_000) } },
    { case: "status", value: { status: RunStatus.ERROR } },
  );
  const events: RunEvent[] = inits.map((event, index) =>
    create(RunEventSchema, { sequence: index + 1, event }),
  );
  const value = turnEnded("run_a", events);
  const batch = create(ThreadBatchSchema, { events: [{ event: { case: "turnEnded", value } }] });
  expect(toBinary(ThreadBatchSchema, batch).length).toBeLessThan(900 * 1024);
  expect(value.output).toContain("[cut: 900000 bytes in all");
  expect(value.executionTree?.nodes?.[0]).toMatchObject({ id: "c0", name: "search" });
});
