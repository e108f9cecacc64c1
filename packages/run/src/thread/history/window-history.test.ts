import { create } from "@bufbuild/protobuf";
import { tokensIn } from "@reeve/agent/text/count-tokens";
import type { HistoryMessage } from "@reeve/contracts/thread";
import { HistoryMessageSchema, TurnEndedSchema, TurnQueuedSchema } from "@reeve/contracts/thread";
import { describe, expect, test } from "vitest";
import type { ThreadState, Turn } from "../thread-state.ts";
import { emptyThread } from "../thread-state.ts";
import { windowHistory } from "./window-history.ts";

const said = (text: string): HistoryMessage =>
  create(HistoryMessageSchema, { message: { case: "user", value: { text } } });

function turn(runId: string, ...messages: readonly HistoryMessage[]): Turn {
  return {
    runId,
    queued: create(TurnQueuedSchema, { runId }),
    queuedAt: undefined,
    isStarted: true,
    ended: create(TurnEndedSchema, { runId, messages: [...messages] }),
    endedAt: undefined,
  };
}

const large = (runId: string): Turn => turn(runId, said("x".repeat(200 * 1024)));
const open = (runId: string): Turn => ({ ...turn(runId), ended: undefined });
const threadOf = (...turns: readonly Turn[]): ThreadState => ({ ...emptyThread, turns });

function textsIn(state: ThreadState, runId: string, maxTokens = 1_000): readonly string[] {
  return windowHistory(state, runId, maxTokens).map(({ message }) =>
    message.case === "user" ? message.value.text : (message.case ?? ""),
  );
}

describe("the history of a run", () => {
  test("has the earlier turns, oldest first", () => {
    const thread = threadOf(
      turn("a", said("one"), said("two")),
      turn("b", said("three")),
      open("c"),
    );
    expect(textsIn(thread, "c")).toEqual(["one", "two", "three"]);
  });

  test("excludes its own turn and later ones", () => {
    const thread = threadOf(
      turn("a", said("one")),
      turn("b", said("two")),
      turn("c", said("three")),
    );
    expect(textsIn(thread, "b")).toEqual(["one"]);
    expect(textsIn(thread, "a")).toEqual([]);
  });

  // Requirement: DUR-1
  test("has only whole turns, the newest that fit", () => {
    const thread = threadOf(
      turn("a", said("a".repeat(40))),
      turn("b", said("b".repeat(40)), said("c".repeat(40))),
      turn("c", said("d".repeat(40))),
      open("d"),
    );
    const shown = ["b".repeat(40), "c".repeat(40), "d".repeat(40)];
    const tokens = shown.reduce((sum, text) => sum + tokensIn(text), 0);
    expect(textsIn(thread, "d", tokens)).toEqual(shown);
    expect(textsIn(thread, "d", tokens - 1)).toEqual(["d".repeat(40)]);
  });

  test("has a part of the newest turn when it alone exceeds the limit", () => {
    const thread = threadOf(turn("a", said("one")), turn("b", said("x".repeat(50_000))), open("c"));
    const [text, ...others] = textsIn(thread, "c", 1_000);
    expect(others).toEqual([]);
    expect(text).toContain("[cut: 50000 bytes in all");
    expect(text?.length).toBeLessThanOrEqual(3_000);
  });

  test("skips turns that left nothing", () => {
    expect(textsIn(threadOf(turn("a", said("one")), turn("b"), open("c")), "c")).toEqual(["one"]);
  });

  test("is empty with a limit of 0", () => {
    expect(textsIn(threadOf(turn("a", said("one")), open("b")), "b", 0)).toEqual([]);
  });

  test("is smaller than the largest message of the bus with any limit", () => {
    const thread = threadOf(large("a"), large("b"), large("c"), open("d"));
    expect(textsIn(thread, "d", 10_000_000)).toHaveLength(2);
  });

  test("counts a turn verbatim, or its text and calls, never both", () => {
    const messageJson = new TextEncoder().encode("v".repeat(400));
    const value = { text: "t".repeat(400), messageJson, format: "f" };
    const answer = create(HistoryMessageSchema, { message: { case: "assistant", value } });
    const tokens = tokensIn("v".repeat(400));
    expect(windowHistory(threadOf(turn("a", answer), open("b")), "b", tokens)).toEqual([answer]);
  });
});
