import type { MessageInitShape } from "@bufbuild/protobuf";
import { create, toBinary } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { RunCreatedSchema, RunEventSchema } from "@reeve/contracts/run";
import type { HistoryMessage } from "@reeve/contracts/thread";
import { HistoryMessageSchema, TurnEndedSchema } from "@reeve/contracts/thread";
import { memoryThreadLog } from "@reeve/jetstream/log/memory";
import { expect, test } from "vitest";
import { key, never, runCreated } from "../../../test/thread/support.ts";
import type { ThreadFact } from "../append-thread.ts";
import { appendThread } from "../append-thread.ts";
import { readHistory } from "../read-history.ts";
import { refreshThread } from "../read-thread.ts";
import { turnEnded } from "../turn-ended.ts";
import { turnHistory } from "./turn-history.ts";
import { showsMemories, withoutMemories } from "./without-memories.ts";

const secret = "she plays the cello";
const messageJson = new TextEncoder().encode(JSON.stringify({ verbatim: secret }));

/** A turn that remembers, recalls, and searches, all at once, and one that only searches. */
const facts: readonly MessageInitShape<typeof RunEventSchema>["event"][] = [
  { case: "runCreated", value: { input: "go", memoryEnabled: true, startedBy: "ann" } },
  { case: "modelCallStarted", value: {} },
  { case: "text", value: { text: "looking" } },
  { case: "toolCall", value: { callId: "a", name: "remember", arguments: { text: secret } } },
  { case: "toolCall", value: { callId: "b", name: "recall", rawArguments: secret } },
  { case: "toolCall", value: { callId: "c", name: "search", arguments: { q: "x" } } },
  { case: "modelTurn", value: { providerCallIds: ["p", "q", "r"], format: "f", messageJson } },
  { case: "toolResult", value: { result: { callId: "c", name: "search", content: "found" } } },
  { case: "toolResult", value: { result: { callId: "b", name: "recall", content: secret } } },
  {
    case: "toolResult",
    value: {
      result: { callId: "a", name: "remember", metadata: { editedArguments: secret } },
    },
  },
  { case: "modelCallStarted", value: {} },
  { case: "toolCall", value: { callId: "d", name: "search", arguments: { q: "y" } } },
  {
    case: "modelTurn",
    value: { providerCallIds: ["s"], format: "f", messageJson: new TextEncoder().encode("{}") },
  },
];
const events = facts.map((event, index) =>
  create(RunEventSchema, { sequence: index + 1, ...(event && { event }) }),
);

const queued = (runId: string): ThreadFact => ({
  case: "turnQueued",
  value: { runId, runCreated: anyPack(RunCreatedSchema, runCreated("ask")) },
});

const shown = (messages: readonly HistoryMessage[]) =>
  messages
    .map((message) => Buffer.from(toBinary(HistoryMessageSchema, message)).toString())
    .join("\n");

/** What everybody may see of the turns. */
const clean = [
  { message: { case: "user", value: { text: "go" } } },
  {
    message: {
      case: "assistant",
      value: {
        text: "looking",
        format: "",
        messageJson: new Uint8Array(),
        calls: [
          { providerCallId: "p", name: "remember", argumentsText: "{}" },
          { providerCallId: "q", name: "recall", argumentsText: "{}" },
          { providerCallId: "r", name: "search", argumentsText: '{"q":"x"}' },
        ],
      },
    },
  },
  {
    message: {
      case: "toolResult",
      value: {
        providerCallId: "p",
        name: "remember",
        content: expect.stringContaining("not kept"),
      },
    },
  },
  {
    message: {
      case: "toolResult",
      value: { providerCallId: "q", name: "recall", content: expect.stringContaining("not kept") },
    },
  },
  {
    message: {
      case: "toolResult",
      value: { providerCallId: "r", name: "search", content: "found" },
    },
  },
  { message: { case: "assistant", value: { format: "f", calls: [{ name: "search" }] } } },
  { message: { case: "toolResult", value: { providerCallId: "s" } } },
];

test("a turn leaves no memory to its thread, and each call keeps its result", () => {
  expect(shown(turnHistory(events))).toContain(secret);
  const { messages } = create(TurnEndedSchema, turnEnded("run_a", events));
  expect(shown(messages)).not.toContain(secret);
  expect(messages).toMatchObject(clean);
  expect(messages.some(showsMemories)).toBe(false);
  expect(withoutMemories(messages)).toEqual(messages);
});

test("the memories in a turn that an earlier version stored are not read", async () => {
  const threads = memoryThreadLog();
  const messages = [...turnHistory(events)];
  expect(messages.some(showsMemories)).toBe(true);
  for (const fact of [
    queued("old"),
    { case: "turnStarted", value: { runId: "old" } },
    { case: "turnEnded", value: { runId: "old", messages } },
    queued("own"),
    { case: "turnStarted", value: { runId: "own" } },
  ] satisfies readonly ThreadFact[]) {
    const seen = await refreshThread(threads, key, undefined, never);
    await appendThread(threads, key, seen, () => [fact], never);
  }
  const history = await readHistory(threads, key, { runId: "own", maxTokens: 1_000 }, never);
  expect(shown(history)).not.toContain(secret);
  expect(history).toMatchObject(clean);
});
