import { create } from "@bufbuild/protobuf";
import { tokensIn } from "@reeve/agent/text/count-tokens";
import { ContentPartSchema } from "@reeve/contracts/content/parts";
import type { HistoryMessage, TurnEnded } from "@reeve/contracts/thread";
import { HistoryMessageSchema, TurnEndedSchema } from "@reeve/contracts/thread";
import { describe, expect, test } from "vitest";
import { userMessage } from "./turn-history.ts";
import { windowHistory } from "./window-history.ts";

const said = (text: string): HistoryMessage =>
  create(HistoryMessageSchema, { message: { case: "user", value: { text } } });

function turn(...messages: readonly HistoryMessage[]): TurnEnded {
  return create(TurnEndedSchema, { messages: [...messages] });
}

const large = (): TurnEnded => turn(said("x".repeat(200 * 1024)));

function textsIn(turns: readonly TurnEnded[], maxTokens = 1_000): readonly string[] {
  return windowHistory(turns, maxTokens).map(({ message }) =>
    message.case === "user" ? message.value.text : (message.case ?? ""),
  );
}

describe("the history of a run", () => {
  test("has the earlier turns, oldest first", () => {
    expect(textsIn([turn(said("one"), said("two")), turn(said("three"))])).toEqual([
      "one",
      "two",
      "three",
    ]);
  });

  // Requirement: DUR-1
  test("has only whole turns, the newest that fit", () => {
    const turns = [
      turn(said("a".repeat(40))),
      turn(said("b".repeat(40)), said("c".repeat(40))),
      turn(said("d".repeat(40))),
    ];
    const shown = ["b".repeat(40), "c".repeat(40), "d".repeat(40)];
    const tokens = shown.reduce((sum, text) => sum + tokensIn(text), 0);
    expect(textsIn(turns, tokens)).toEqual(shown);
    expect(textsIn(turns, tokens - 1)).toEqual(["d".repeat(40)]);
  });

  test("has a part of the newest turn when it alone exceeds the limit", () => {
    const turns = [turn(said("one")), turn(said("x".repeat(50_000)))];
    const [text, ...others] = textsIn(turns, 1_000);
    expect(others).toEqual([]);
    expect(text).toContain("[cut: 50000 bytes in all");
    expect(text?.length).toBeLessThanOrEqual(3_000);
  });

  test("skips turns that left nothing", () => {
    expect(textsIn([turn(said("one")), turn()])).toEqual(["one"]);
  });

  test("is empty with a limit of 0", () => {
    expect(textsIn([turn(said("one"))], 0)).toEqual([]);
  });

  test("is smaller than the largest message of the bus with any limit", () => {
    expect(textsIn([large(), large(), large()], 10_000_000)).toHaveLength(2);
  });

  test("counts a turn verbatim, or its text and calls, never both", () => {
    const messageJson = new TextEncoder().encode("v".repeat(400));
    const value = { text: "t".repeat(400), messageJson, format: "f" };
    const answer = create(HistoryMessageSchema, { message: { case: "assistant", value } });
    const tokens = tokensIn("v".repeat(400));
    expect(windowHistory([turn(answer)], tokens)).toEqual([answer]);
  });
});

test("a turn that fits only without its files has notes instead of them", () => {
  const value = { name: "a.pdf", mediaType: "application/pdf", sizeBytes: 5 * 1024 * 1024 };
  const file = create(ContentPartSchema, { part: { case: "file", value } });
  const shown = windowHistory([turn(userMessage("see", [file]))], 8_000);
  expect(shown.map(({ message }) => message.value)).toMatchObject([
    { text: "see", parts: [{ part: { case: "text", value: expect.stringContaining("a.pdf") } }] },
  ]);
  const [whole] = windowHistory([turn(userMessage("see", [file]))], 1_000_000);
  expect(whole?.message.value).toMatchObject({ parts: [{ part: { case: "file" } }] });
});
