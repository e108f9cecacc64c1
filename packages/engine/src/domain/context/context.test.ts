import { create } from "@bufbuild/protobuf";
import { ModelCallPurpose } from "@reeve/contracts/run";
import { HistoryMessageSchema } from "@reeve/contracts/thread";
import { ToolDescriptorSchema } from "@reeve/contracts/tool";
import { describe, expect, test } from "vitest";
import { nextEffects } from "../next-effects.ts";
import { promptTokens, countedTokens } from "../model/prompt-tokens.ts";
import type { Setting } from "../../../test/support/played-log.ts";
import { PlayedRun, subtask } from "../../../test/support/run-player.ts";
import { expectOrder } from "../../../test/support/event-order.ts";

const search = create(ToolDescriptorSchema, { name: "search" });
/** A model with a window of 4000 tokens, and an agent with one tool. */
const small: Setting = { prepared: { model: { id: "m", contextWindow: 4_000 }, tools: [search] } };
const purposes = (run: PlayedRun) => run.all("modelCallStarted").map(({ purpose }) => purpose);
/** Answers the open step, with this number of tokens as the provider's count of the conversation. */
const counted = (run: PlayedRun, tokens: number) =>
  run.turnIn("", [{ name: "search" }], { inputTokens: tokens - 5, outputTokens: 5 }).result(0, "");
const { ANSWER, SUMMARY } = ModelCallPurpose;

/** A text with the given number of words, which is estimated at 2.3 times as many tokens. */
const words = (count: number) => "word ".repeat(count);

/** Plays rounds of a tool, each of which adds about 600 tokens to the conversation. */
function rounds(run: PlayedRun, count: number): PlayedRun {
  for (let round = 0; round < count; round++) {
    const inputTokens = promptTokens(run.state, run.frame());
    run.turnIn("", [{ name: "search" }], { inputTokens }).result(0, words(262));
  }
  return run;
}

describe("with budget_awareness per-message", () => {
  // Requirement: BUD-2, TURN-1
  test("a turn is stored with one advisory, which is added to each of its results", () => {
    const run = new PlayedRun({ budgetAwareness: "per-message" }, small);
    run.turn({ name: "search" }, { name: "search" }).result(0).result(1);
    const advisory =
      "[context budget: 15 of 4000 tokens used (0 %); older messages are compacted above 4000 tokens]";
    expect(run.all("modelTurn")).toMatchObject([{ advisory }]);
    expect(run.prompt().slice(-2)).toMatchObject([
      { role: "tool", content: "found", notes: [advisory] },
      { role: "tool", content: "found", notes: [advisory] },
    ]);
    // It is not part of the messages of the model or the user.
    expect(run.all("toolResult").map(({ result }) => result?.content)).toEqual(["found", "found"]);
    expect(run.clientTrace).not.toContain("text");
  });

  // Requirement: BUD-2
  test("an answer without calls is followed by its advisory in the next message of the user", () => {
    const run = new PlayedRun({ budgetAwareness: "per-message" }, small);
    run.receivesMessage("and then?").says("one").turn();
    expect(run.prompt().at(-1)).toMatchObject({
      role: "user",
      text: "and then?",
      notes: [expect.stringContaining("15 of 4000 tokens")],
    });
  });

  // Requirement: BUD-2
  test("the advisory of an earlier turn never changes", () => {
    const run = new PlayedRun({ budgetAwareness: "per-message" }, small);
    const first = counted(run, 100).prompt();
    expect(counted(run, 300).prompt().slice(0, first.length)).toEqual(first);
    expect(JSON.stringify(run.prompt())).toContain("300 of 4000");
  });

  test("no run is stopped", () => {
    const run = new PlayedRun({ budgetAwareness: "per-message" }, small);
    counted(run, 5_000);
    expect(run.says("done").turn().end).toBe("completed");
    expect(run.all("context")).toEqual([]);
  });
});

// Requirement: BUD-1
test("without budget_awareness there is no advisory, and no run is stopped", () => {
  const run = counted(new PlayedRun({}, small), 5_000);
  expect(run.all("modelTurn")[0]?.advisory).toBe("");
  expect(run.prompt().some((message) => "notes" in message)).toBe(false);
  expect(run.clientTrace.at(-1)).toBe("step:started");
});

const limited = () => new PlayedRun({ budgetAwareness: "limit:50" }, small);

describe("with budget_awareness limit:50", () => {
  // Requirement: BUD-3
  test("a conversation at its limit is not compacted", () => {
    const unlimited = rounds(new PlayedRun({}, small), 1);
    const tokens = promptTokens(unlimited.state, unlimited.frame());
    const withWindow = (contextWindow: number) =>
      rounds(
        new PlayedRun(
          { budgetAwareness: "limit:50" },
          { prepared: { ...small.prepared, model: { id: "m", contextWindow } } },
        ),
        1,
      );
    expect(purposes(withWindow(2 * tokens))).toEqual([ANSWER, ANSWER]);
    expect(purposes(withWindow(2 * tokens - 2))).not.toEqual([ANSWER, ANSWER]);
  });

  // Requirement: BUD-3
  test("one above it has its older part summarized before the next turn", () => {
    const run = rounds(limited(), 3);
    expect(purposes(run)).toEqual([ANSWER, ANSWER, ANSWER, SUMMARY]);
    expect(nextEffects(run.state)).toMatchObject([
      { kind: "call_model", call: { purpose: SUMMARY } },
    ]);
    run.turn();
    expect(purposes(run)).toEqual([ANSWER, ANSWER, ANSWER, SUMMARY, ANSWER]);
    const [context] = run.all("context");
    expect(context?.beforeTokens).toBeGreaterThan(2_000);
    expect(context?.afterTokens).toBeLessThan(1_200);
    expect(run.prompt()[0]).toEqual({
      role: "user",
      text: "[summary of the conversation so far]\nwhat went before",
    });
    expectOrder(run.says("done").turn().events);
  });

  // Requirement: BUD-5
  test("the latest message of the user stays, and each call that stays has its result", () => {
    const run = limited().receivesMessage("mind the gap");
    rounds(run, 3).turn();
    const prompt = run.prompt();
    expect(prompt.map(({ role }) => role)).toEqual(["user", "user", "verbatim", "tool"]);
    expect(prompt[1]).toMatchObject({ text: "mind the gap" });
  });

  test("the plan and the memories move to the user's message when the input is removed", () => {
    const run = new PlayedRun(
      { budgetAwareness: "limit:50", planningEnabled: true },
      { ...small, prepared: { ...small.prepared, recalled: ["likes tea"] } },
    );
    run.says(`{"steps":["look"]}`).turn();
    run.receivesMessage("mind the gap");
    rounds(run, 3).turn();
    expect(run.prompt()[1]).toMatchObject({
      text: "mind the gap",
      notes: ["likes tea", expect.stringContaining("1. look")],
    });
  });

  test("compaction repeats as often as needed, with the earlier summary as part of the next", () => {
    const run = rounds(limited(), 3).turn();
    rounds(run, 2).turn();
    expect(run.all("context")).toHaveLength(2);
    const removed = run.all("context").map(({ removedMessages }) => removedMessages);
    expect(removed[1]).toBeGreaterThan(removed[0] ?? 0);
    expect(
      run.prompt().filter((message) => "text" in message && message.text?.startsWith("[summary")),
    ).toHaveLength(1);
    expectOrder(run.says("done").turn().events);
  });

  test.each([
    ["fails", (run: PlayedRun) => run.fails("invalid")],
    ["is empty", (run: PlayedRun) => Object.assign(run, { summary: " " }).turn()],
  ])("a summary that %s is replaced by the end of what it was to replace", (_, end) => {
    const run = rounds(limited(), 3);
    end(run);
    const [context] = run.all("context");
    expect(context?.summary).toMatch(/^There is no summary/);
    expect(context?.summary).toContain("word word");
    expect(context?.afterTokens).toBeLessThanOrEqual(2_000);
    expect(purposes(run).at(-1)).toBe(ANSWER);
    expect(run.prompt().map(({ role }) => role)).toEqual(["user", "user", "verbatim", "tool"]);
  });

  test("a summary that is too long is cut to the room that the limit leaves", () => {
    const run = rounds(limited(), 3);
    run.summary = words(4_000);
    run.turn();
    const [context] = run.all("context");
    expect(context?.summary).toMatch(/^\[incomplete: the summary is truncated; .*\]\nword word/);
    expect(context?.afterTokens).toBeLessThanOrEqual(2_000);
    expect(purposes(run).at(-1)).toBe(ANSWER);
    expectOrder(run.says("done").turn().events);
  });

  test.each([
    ["truncated", "length", "[incomplete: the summary is truncated; what followed is missing]"],
    [
      "filtered",
      "content_filter",
      "[incomplete: the model or its provider withheld a part of the summary]",
    ],
  ])("a summary that is %s says so to the model and to watchers", (_, finishReason, mark) => {
    const run = rounds(limited(), 3);
    run.summary = "The key is 4";
    run.answers("", finishReason);
    expect(run.all("context")[0]?.summary).toBe(`${mark}\nThe key is 4`);
    expect(run.prompt()[0]).toMatchObject({
      text: `[summary of the conversation so far]\n${mark}\nThe key is 4`,
    });
  });

  test("a summary that is lost with its worker is repeated", () => {
    const run = rounds(limited(), 3).claimedAnew();
    expect(purposes(run).slice(-2)).toEqual([SUMMARY, SUMMARY]);
    run.turn();
    expectOrder(run.says("done").turn().events);
  });

  // Requirement: BUD-4
  test("a conversation that compaction cannot make small enough completes with a text that says so", () => {
    const run = rounds(limited(), 1).receivesMessage(words(1_200));
    rounds(run, 1);
    expect(run.end).toBe("completed");
    expect(run.all("text")).toMatchObject([{ text: expect.stringContaining("is used up") }]);
    expect(run.clientTrace).not.toContain("budgetExceeded");
    expect(purposes(run)).toEqual([ANSWER, ANSWER]);
    expectOrder(run.events);
  });

  test("a message that arrived meanwhile is injected before such an end", () => {
    const run = rounds(limited(), 1).receivesMessage("wait").receivesMessage(words(1_200));
    rounds(run, 1);
    expect(run.all("messageInjected")).toHaveLength(2);
    expect(run.end).toBe("completed");
    expectOrder(run.events);
  });

  test("in a subtask it is an error of that subtask only", () => {
    const run = new PlayedRun(
      { budgetAwareness: "limit:50" },
      { prepared: { model: { id: "m", contextWindow: 5_000 } } },
    ).turn(subtask("a", { additional_context: "x".repeat(16_000) }));
    expect(JSON.parse(run.lastResult ?? "")).toMatchObject({ error: "context_limit" });
    expectOrder(run.says("too much").turn().events);
  });
});

describe("with budget_awareness limit:90 of a window of 128,000 tokens", () => {
  const large: Setting = { prepared: { model: { id: "m", contextWindow: 128_000 } } };

  // Requirement: BUD-3, BUD-4
  test("a conversation above history_tokens and below the limit does not end the run", () => {
    const spec = { budgetAwareness: "limit:90", budgets: { maxHistoryTokens: 1_000 } };
    const run = new PlayedRun(spec, { ...large, created: { input: words(1_600) } });
    expect(promptTokens(run.state, run.frame())).toBeGreaterThan(1_000);
    expect(run.says("hello").turn().end).toBe("completed");
    expect(purposes(run)).toEqual([ANSWER]);
  });

  // Requirement: BUD-3
  test("the limit follows the window, not history_tokens, whose default is lower", () => {
    const prepared = { model: { id: "m", contextWindow: 1_000_000 } };
    const spec = { budgetAwareness: "limit:70" };
    const run = new PlayedRun(spec, { prepared, created: { input: words(100_000) } });
    expect(promptTokens(run.state, run.frame())).toBeGreaterThan(128_000);
    expect(purposes(run)).toEqual([ANSWER]);
  });
});

// Requirement: BUD-4
test("budget_awareness limit:0 completes the run without a model call", () => {
  const run = new PlayedRun({ budgetAwareness: "limit:0" }, small);
  expect(run.end).toBe("completed");
  expect(purposes(run)).toEqual([]);
  expect(run.all("text")[0]?.text).toContain("the limit is 0");
  expectOrder(run.events);
});

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

describe("with compact_at_tokens, and tools whose bound is above it", () => {
  const tool = create(ToolDescriptorSchema, { name: "search", description: words(800) });
  const spec = { contextPolicy: { compactAtTokens: 1_500 } };
  const run = () => new PlayedRun(spec, { prepared: { model: { id: "m" }, tools: [tool] } });
  /** Answers with a call, and the provider counts a part of what the runtime does. */
  const round = (played: PlayedRun, share: number) => {
    const inputTokens = Math.floor(share * countedTokens(played.state, played.frame()));
    return played.turnIn("", [{ name: "search" }], { inputTokens }).result(0, words(300));
  };

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
