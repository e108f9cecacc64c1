import { ModelCallPurpose } from "@reeve/contracts/run";
import { describe, expect, test } from "vitest";
import { nextEffects } from "../next-effects.ts";
import { promptTokens } from "../model/prompt-tokens.ts";
import { counted, purposes, rounds, small, words } from "../../../test/support/context-rounds.ts";
import { expectOrder } from "../../../test/support/event-order.ts";
import type { Setting } from "../../../test/support/played-log.ts";
import { PlayedRun, subtask } from "../../../test/support/run-player.ts";

const { ANSWER, SUMMARY } = ModelCallPurpose;

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

/** Plays a round of an agent with that limit, whose model has a window of so many tokens. */
function withWindow(contextWindow: number): PlayedRun {
  const prepared = { ...small.prepared, model: { id: "m", contextWindow } };
  return rounds(new PlayedRun({ budgetAwareness: "limit:50" }, { prepared }), 1);
}

describe("with budget_awareness limit:50", () => {
  // Requirement: BUD-3
  test("a conversation at its limit is not compacted", () => {
    const unlimited = rounds(new PlayedRun({}, small), 1);
    const tokens = promptTokens(unlimited.state, unlimited.frame());
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
