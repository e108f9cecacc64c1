import { create } from "@bufbuild/protobuf";
import { ModelCallPurpose } from "@reeve/contracts/run";
import { HistoryMessageSchema } from "@reeve/contracts/thread";
import { ToolDescriptorSchema } from "@reeve/contracts/tool";
import { describe, expect, test } from "vitest";
import { countedTokens } from "../model/prompt-tokens.ts";
import {
  counted,
  purposes,
  rounds,
  search,
  small,
  words,
} from "../../../test/support/context-rounds.ts";
import { expectOrder } from "../../../test/support/event-order.ts";
import type { Setting } from "../../../test/support/played-log.ts";
import { PlayedRun } from "../../../test/support/run-player.ts";

const { ANSWER, SUMMARY } = ModelCallPurpose;

describe("history_tokens", () => {
  // Requirement: TURN-3
  test("drop the oldest messages, without a summary and without ending the run", () => {
    const run = rounds(new PlayedRun({ budgets: { maxHistoryTokens: 2_000 } }, small), 3);
    expect(run.all("context")).toMatchObject([{ summary: "" }]);
    expect(purposes(run)).toEqual([ANSWER, ANSWER, ANSWER, ANSWER]);
    expect(run.resultsSeen()).toHaveLength(1);
    expect(counted(run, 5_000).end).toBeUndefined();
  });

  test("drop the history of the thread first", () => {
    const history = ["one", "two"].map((text) =>
      create(HistoryMessageSchema, {
        message: { case: "user", value: { text: `${text} `.repeat(400) } },
      }),
    );
    const run = new PlayedRun(
      { budgets: { maxHistoryTokens: 1_000 } },
      { prepared: { ...small.prepared, history } },
    );
    expect(run.prompt().map((message) => "text" in message && message.text)).toEqual(["go"]);
  });
});

/** Answers with a call, and the provider counts a part of what the runtime does. */
function round(played: PlayedRun, share: number): PlayedRun {
  const inputTokens = Math.floor(share * countedTokens(played.state, played.frame()));
  return played.turnIn("", [{ name: "search" }], { inputTokens }).result(0, words(300));
}

describe("with compact_at_tokens, and tools whose bound is above it", () => {
  const tool = create(ToolDescriptorSchema, { name: "search", description: words(800) });
  const spec = { contextPolicy: { compactAtTokens: 1_500 } };
  const run = () => new PlayedRun(spec, { prepared: { model: { id: "m" }, tools: [tool] } });

  // Requirement: BUD-5
  test("a conversation that the provider counts above it is compacted", () => {
    const played = round(run(), 0.5);
    expect(purposes(played)).toEqual([ANSWER, SUMMARY]);
    played.turn();
    const [context] = played.all("context");
    expect(context?.beforeTokens).toBeGreaterThan(1_500);
    expect(context?.afterTokens).toBeLessThan(1_500);
  });

  test("nothing is compacted while the provider counts the tools alone above it", () => {
    const played = run();
    for (let turn = 0; turn < 3; turn++) round(played, 1);
    expect(purposes(played)).toEqual([ANSWER, ANSWER, ANSWER, ANSWER]);
  });

  test("a later count shows that the tools are not what made the first count high", () => {
    const played = round(run(), 4);
    expect(purposes(played)).toEqual([ANSWER, ANSWER]);
    played.turnIn("", [{ name: "search" }], { inputTokens: 2_000 }).result(0, words(300));
    expect(purposes(played)).toEqual([ANSWER, ANSWER, SUMMARY]);
  });
});

describe("a context overflow that the provider reports", () => {
  /** A model whose window is unknown, so that no limit of the run is near. */
  const unknown: Setting = { prepared: { tools: [search] } };

  test.each([
    ["without any limit", {}, ""],
    ["with a context policy, by a summary", { contextPolicy: {} }, "what went before"],
  ])("is answered by one compaction, %s", (_, spec, summary) => {
    const run = rounds(new PlayedRun(spec, unknown), 4).fails("context_overflow");
    if (summary !== "") run.turn();
    expect(run.all("context")).toMatchObject([{ summary }]);
    expect(run.all("context")[0]?.afterTokens).toBeLessThan(
      run.all("context")[0]?.beforeTokens ?? 0,
    );
    expect(purposes(run).at(-1)).toBe(ANSWER);
    expectOrder(run.says("done").turn().events);
  });

  test("ends the run when the compacted conversation is too large as well", () => {
    const run = rounds(new PlayedRun({}, unknown), 4);
    run.fails("context_overflow").fails("context_overflow");
    expect(run.all("context")).toHaveLength(1);
    expect(run.clientTrace).toContain("error:context_overflow");
  });

  test("ends the run when nothing can be removed", () => {
    expect(new PlayedRun().fails("context_overflow").clientTrace).toContain(
      "error:context_overflow",
    );
  });
});
