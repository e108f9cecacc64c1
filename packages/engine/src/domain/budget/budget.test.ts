import { ApprovalState } from "@reeve/contracts/approval";
import { describe, expect, test } from "vitest";
import { nextEffects } from "../next-effects.ts";
import { PlayedRun, jobs, subtask } from "../../../test/support/run-player.ts";
import { expectOrder } from "../../../test/support/event-order.ts";

const priced = {
  id: "m",
  maxOutputTokens: 1_000,
  pricing: { inputUsdPerMillion: 0, outputUsdPerMillion: 1_000 },
};
const seconds = (count: number) => ({ maxWallClock: { seconds: BigInt(count) } });

/** Expects that the run ended in order because of this budget. */
function expectExceeded(run: PlayedRun, reason: string, limit: number, observed?: number): void {
  expect(run.clientTrace.slice(-4)).toEqual([
    "budgetExceeded",
    "error:budget_exceeded",
    "costSummary",
    "status:error",
  ]);
  expect(run.all("budgetExceeded")).toMatchObject([
    { reason, limit, ...(observed !== undefined && { observed }) },
  ]);
  expect(run.all("treeStored")).toHaveLength(1);
  expect(nextEffects(run.state)).toEqual([]);
  expectOrder(run.events);
}

/** Returns a run with two subtasks in progress. */
const pair = (spec = {}, setting = {}): [PlayedRun, string, string] => {
  const run = new PlayedRun(spec, setting).turn(subtask("a"), subtask("b"));
  const [a = "", b = ""] = run.subtasks;
  return [run, a, b];
};

describe("model calls", () => {
  test("end the run when one more would exceed the budget", () => {
    const run = new PlayedRun({ budgets: { maxLlmCalls: 2 } });
    run.turn({ name: "search" }).result(0).says("so far").turn({ name: "search" }).result(0);
    expectExceeded(run, "llm_calls", 2, 3);
    // The text is kept.
    expect(run.clientTrace).toContain("text");
    expect(run.clientTrace).not.toContain("textVoided");
  });

  // Requirement: TURN-2
  test("are counted over all subtasks, including failed attempts", () => {
    const [run, a] = pair({ budgets: { maxLlmCalls: 4 } });
    run.fails("unavailable", { retryable: true, id: a }).retries(a);
    expect(run.end).toBeUndefined();
    run.fails("unavailable", { retryable: true, id: a }).retries(a);
    expectExceeded(run, "llm_calls", 4, 5);
  });

  test("with a budget of 0 end the run before the first one", () => {
    expectExceeded(new PlayedRun({ budgets: { maxLlmCalls: 0 } }), "llm_calls", 0, 1);
  });
});

describe("tool calls", () => {
  // Requirement: TURN-2, TURN-3
  test("beyond the budget are refused before the run ends", () => {
    const run = new PlayedRun({ budgets: { maxToolCalls: 2 } });
    run.turn({ name: "search" }).result(0).turn({ name: "search" }, { name: "search" });
    expect(run.all("toolResult").map(({ success }) => success)).toEqual([true, false, false]);
    expect(run.lastResult).toContain("the run may use 2 tool calls in all");
    expectExceeded(run, "tool_calls", 2, 3);
  });

  test("are counted over all subtasks, and the subtask that exceeds the budget reads its refusals", () => {
    const [run, a, b] = pair({ budgets: { maxToolCalls: 4 } });
    run.turnIn(a, [{ name: "search" }, { name: "search" }]);
    run.turnIn(b, [{ name: "search" }]);
    const refused = run.events.filter(({ event }) => event.case === "toolResult");
    expect(refused.map(({ parentId }) => parentId)).toEqual([b]);
    expect(run.lastResult).toContain("the run may use 4 tool calls in all");
    expectExceeded(run, "tool_calls", 4, 5);
  });

  test("that wait for an approval are refused with the others", () => {
    const run = new PlayedRun({ hitlTools: ["search"], budgets: { maxToolCalls: 0 } });
    run.turn({ name: "search" });
    expect(run.clientTrace).not.toContain("approval");
    expectExceeded(run, "tool_calls", 0, 1);
  });
});

describe("subtasks", () => {
  // Requirement: TURN-3
  test("beyond the budget are refused with their call, and the run ends", () => {
    const run = new PlayedRun({ budgets: { maxSubtasks: 1 } }).turn(subtask("a"), subtask("b"));
    expect(run.lastResult).toContain("the run may use 1 subtasks in all");
    expect(run.all("subtask")).toHaveLength(1);
    expectExceeded(run, "subtasks", 1, 2);
  });

  // Requirement: SUB-3
  test("of one call start together or not at all", () => {
    const run = new PlayedRun({ allowParallelSubagents: true, budgets: { maxSubtasks: 2 } });
    run.turn(jobs({ task: "a" }, { task: "b" }, { task: "c" }));
    expect(run.all("subtask")).toEqual([]);
    expectExceeded(run, "subtasks", 2, 3);
  });

  test("are counted at every depth", () => {
    const [run, a] = pair({ budgets: { maxSubtasks: 2 } });
    run.turnIn(a, [subtask("c")]);
    expectExceeded(run, "subtasks", 2, 3);
  });

  // Requirement: TURN-3
  test("deeper than the budget are refused, and the run continues", () => {
    const run = new PlayedRun({ budgets: { maxDepth: 0 } }).turn(subtask("a"));
    expect(run.lastResult).toContain("subtasks may be nested 0 deep");
    expect(run.clientTrace.at(-1)).toBe("step:started");
  });
});

describe("the wall clock", () => {
  // Requirement: TURN-2
  test("ends the run at the next step, and interrupts no call before it", () => {
    const run = new PlayedRun({ budgets: seconds(60) }).turn({ name: "search" });
    run.nowMs += 61_000;
    run.progresses("still at it");
    expect(run.end).toBeUndefined();
    run.result(0);
    expectExceeded(run, "wall_clock", 60_000);
  });

  // Requirement: TURN-1
  test("ends a run without budgets after 180 s", () => {
    const run = new PlayedRun().turn({ name: "search" });
    run.nowMs += 181_000;
    run.result(0);
    expectExceeded(run, "wall_clock", 180_000);
  });

  test("is shared by subtasks: one that takes too long ends the run", () => {
    const [run, a] = pair({ budgets: seconds(60) });
    run.nowMs += 61_000;
    run.turnIn(a, [{ name: "search" }]).result(0, "found", a);
    expectExceeded(run, "wall_clock", 60_000);
  });

  // Requirement: TURN-2
  test("stops while the run waits for an approval, and while it has no owner", () => {
    const run = new PlayedRun({ hitlTools: ["search"], budgets: seconds(60) });
    run.turn({ name: "search" }).parks();
    run.nowMs += 3_600_000;
    run.decides(ApprovalState.APPROVED);
    run.nowMs += 3_600_000;
    run.claimedAnew();
    run.nowMs += 1_000;
    run.result(0);
    expect(run.clientTrace.at(-1)).toBe("step:started");
  });

  test("does not count the time of a dead worker, whatever external facts arrive meanwhile", () => {
    const run = new PlayedRun({ budgets: seconds(60) }).turn({ name: "search" });
    run.nowMs += 3_600_000;
    run.receivesMessage("are you there?");
    run.nowMs += 3_600_000;
    run.claimedAnew().result(0);
    expect(run.clientTrace.slice(-2)).toEqual(["step:started", "messageInjected"]);
  });
});

test("total tokens end the run when they are exceeded", () => {
  const run = new PlayedRun({ budgets: { maxTotalTokens: 20 } });
  run.turn({ name: "search" }).result(0).turn({ name: "search" }).result(0);
  expectExceeded(run, "tokens", 20, 30);
});

test("total bytes of results end the run when they are exceeded", () => {
  const run = new PlayedRun({ budgets: { maxTotalBytes: 5 } });
  run.turn({ name: "search" }).result(0, "ünder");
  expectExceeded(run, "bytes", 5, 6);
});

describe("before a tool call starts", () => {
  const serial = [{ name: "read", parallelSafe: false }];
  const reads = [{ name: "read" }, { name: "read" }, { name: "read" }];

  test("total bytes are checked: waiting calls are refused, and the run ends", () => {
    const run = new PlayedRun({ budgets: { maxTotalBytes: 5 } }, { tools: serial });
    run.turn(...reads).result(0, "enough");
    expect(run.all("toolCallStarted")).toHaveLength(1);
    const results = run.all("toolResult").map(({ result }) => result?.content);
    expect(results.slice(1)).toEqual(reads.slice(1).map(() => expect.stringContaining("5 bytes")));
    expectExceeded(run, "bytes", 5);
  });

  test("calls in progress get their results first", () => {
    const tools = [{ name: "search" }, ...serial];
    const run = new PlayedRun({ budgets: { maxTotalBytes: 5 } }, { tools });
    run.turn({ name: "search" }, ...reads).result(1, "enough");
    expect(run.end).toBeUndefined();
    run.result(0, "found");
    expect(run.all("toolResult").map(({ success }) => success)).toEqual([true, false, false, true]);
    expectExceeded(run, "bytes", 5);
  });

  test("total tokens and the cost are checked", () => {
    const tokens = new PlayedRun({ budgets: { maxTotalTokens: 14 } }).turn({ name: "search" });
    expect(tokens.all("toolCallStarted")).toEqual([]);
    expectExceeded(tokens, "tokens", 14, 15);
    const cost = new PlayedRun({ budgets: { maxCostUsd: 1.5 } }, { prepared: { model: priced } });
    cost.turnIn("", [{ name: "search" }], { outputTokens: 1_600 });
    expect(cost.all("toolCallStarted")).toEqual([]);
    expectExceeded(cost, "cost", 1.5);
  });
});

describe("a limit on cost", () => {
  // Requirement: TURN-4
  test("forbids a call whose maximum cost would exceed it", () => {
    const run = new PlayedRun({ budgets: { maxCostUsd: 0.99 } }, { prepared: { model: priced } });
    expectExceeded(run, "cost", 0.99, 1);
  });

  // Requirement: TURN-4
  test("counts the maximum cost of calls in progress in other subtasks", () => {
    const [run, a] = pair({ budgets: { maxCostUsd: 2.5 } }, { prepared: { model: priced } });
    // The root has spent 5 tokens of 1000; both subtasks have reserved a dollar each.
    expect(run.end).toBeUndefined();
    run.turnIn(a, [subtask("c")], { outputTokens: 500 });
    // 0.505 spent, 1 reserved by b, and c would make it 2.505.
    expectExceeded(run, "cost", 2.5);
  });

  test("keeps the reservation of a lost call", () => {
    const run = new PlayedRun({ budgets: { maxCostUsd: 2.5 } }, { prepared: { model: priced } });
    run.claimedAnew();
    expect(run.state.lostUsd).toBe(1);
    run.claimedAnew();
    expectExceeded(run, "cost", 2.5, 3);
  });

  test("keeps the reservation of a call that failed while streaming, because it may be billed", () => {
    const run = new PlayedRun({ budgets: { maxCostUsd: 2.5 } }, { prepared: { model: priced } });
    run.says("almost all of").fails("unavailable", { retryable: true }).retries();
    expect(run.state.lostUsd).toBe(1);
    run.fails("unavailable", { retryable: true }).retries();
    expect(run.state.lostUsd).toBe(1);
    run.says("almost").fails("unavailable", { retryable: true }).retries();
    expectExceeded(run, "cost", 2.5, 3);
  });

  test("keeps the reservation of a call whose subtask ends before its answer", () => {
    const [run, a] = pair({ budgets: { maxCostUsd: 3 } }, { prepared: { model: priced } });
    run.write({ case: "subtask", value: { subtaskId: a, ended: true } });
    expect(run.state.lostUsd).toBe(1);
  });

  test("estimates a non-Latin prompt as one token per character", () => {
    const model = { ...priced, pricing: { inputUsdPerMillion: 1_000, outputUsdPerMillion: 0 } };
    const input = "漢字測試".repeat(1_000);
    const run = new PlayedRun(
      { budgets: { maxCostUsd: 3.9 } },
      { prepared: { model }, created: { input } },
    );
    expectExceeded(run, "cost", 3.9);
  });

  test("releases the unused part of a reservation", () => {
    const run = new PlayedRun({ budgets: { maxCostUsd: 1.5 } }, { prepared: { model: priced } });
    for (let round = 0; round < 5; round++) run.turn({ name: "search" }).result(0);
    expect(run.end).toBeUndefined();
    expect(run.state.head.spent.costUsd).toBeCloseTo(0.025);
  });
});

// Requirement: CHAT-5
test("one cost summary covers the model calls, tool calls, and subtasks of all depths", () => {
  const [run, a, b] = pair({}, { prepared: { model: priced } });
  for (const id of [a, b]) run.says("ok", id).turnIn(id);
  run.says("done").turn();
  expect(run.all("costSummary")).toMatchObject([
    { llmCalls: 4, toolCalls: 2, subtasks: 2, inputTokens: 40, outputTokens: 20, costUsd: 0.02 },
  ]);
});

// Requirement: TURN-1
test("without budgets the defaults apply: 20 steps, 32 subtasks, 60 model calls, 200 tool calls", () => {
  const rounds = new PlayedRun();
  while (rounds.end === undefined) rounds.turn({ name: "search" }).result(0);
  expect(rounds.clientTrace).toContain("error:iteration_limit");
  expect(rounds.all("modelTurn")).toHaveLength(20);
  const many = new PlayedRun();
  while (many.end === undefined) many.turn(...Array.from({ length: 50 }, () => ({ name: "no" })));
  expectExceeded(many, "tool_calls", 200, 250);
  const deep = new PlayedRun({ maxRounds: 100 });
  while (deep.end === undefined) deep.turn({ name: "nothing" });
  expectExceeded(deep, "llm_calls", 60, 61);
  const wide = new PlayedRun();
  wide.turn(...Array.from({ length: 33 }, (_, index) => subtask(`${index}`)));
  while (wide.subtasks.length > 0) wide.turnIn(wide.subtasks[0] ?? "");
  expectExceeded(wide, "subtasks", 32, 33);
});
