import { ApprovalState } from "@reeve/contracts/approval";
import { describe, expect, test } from "vitest";
import { nextEffects } from "./next-effects.ts";
import type { Setting } from "../../test/support/played-log.ts";
import type { PlayedCall } from "../../test/support/run-player.ts";
import { PlayedRun, subtask } from "../../test/support/run-player.ts";
import { expectOrder } from "../../test/support/event-order.ts";

const tools = [
  { name: "search" },
  { name: "alone", parallelSafe: false },
  { name: "write", exclusiveLock: "disk" },
  { name: "paint", exclusiveLock: "canvas" },
];
const setting: Setting = { tools };
const oneByOne: Setting = {
  tools,
  prepared: { capabilities: { tools: true, parallelToolCalls: false } },
};
const times = (count: number, name: string): readonly PlayedCall[] =>
  Array.from({ length: count }, () => ({ name }));

/** Returns the indexes of the calls in progress in the open step of a frame. */
const underWay = (run: PlayedRun, id = "") =>
  run
    .frame(id)
    .calls.flatMap(({ startedAtMs, result }, index) =>
      startedAtMs !== undefined && result === undefined ? [index] : [],
    );

describe("the calls of a turn", () => {
  // Requirement: LOOP-2, TURN-1
  test("run in parallel, at most eight, and the others one by one after them", () => {
    const run = new PlayedRun({}, setting).turn(...times(10, "search"), { name: "alone" });
    expect(underWay(run)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    for (const index of [0, 1, 2, 3, 4, 5, 6]) run.result(index);
    expect(underWay(run)).toEqual([7]);
    // The call that is not parallel-safe runs alone, then those beyond the limit, each after the one before it.
    expect(underWay(run.result(7))).toEqual([10]);
    expect(underWay(run.result(10))).toEqual([8]);
    expect(underWay(run.result(8))).toEqual([9]);
    run.result(9);
    expectOrder(run.says("done").turn().events);
  });

  // Requirement: LOOP-2, PERM-1
  test("with a lock run one by one in the order of the model", () => {
    const run = new PlayedRun({}, setting).turn(...times(2, "write"), { name: "paint" });
    expect(underWay(run)).toEqual([0]);
    expect(underWay(run.result(0))).toEqual([1]);
    expect(underWay(run.result(1))).toEqual([2]);
  });

  // Requirement: LOOP-5
  test("run one by one when the provider does not support parallel calls", () => {
    const run = new PlayedRun({}, oneByOne).turn(...times(3, "search"));
    expect(underWay(run)).toEqual([0]);
    expect(underWay(run.result(0))).toEqual([1]);
    expect(underWay(run.result(1))).toEqual([2]);
  });

  test("that start subtasks run one by one there, too", () => {
    const run = new PlayedRun({}, oneByOne).turn(subtask("a"), subtask("b"));
    const [first = ""] = run.subtasks;
    expect(run.subtasks).toHaveLength(1);
    run.says("a", first).turnIn(first);
    expect(run.subtasks).toHaveLength(1);
    expect(run.subtasks).not.toContain(first);
  });

  test("end with finish_subtask wherever it is in the turn, in parallel or not", () => {
    const run = new PlayedRun({}, oneByOne).turn(
      subtask("a", { output_schema: { type: "object" } }),
    );
    const [child = ""] = run.subtasks;
    run.turnIn(child, [{ name: "finish_subtask" }, { name: "search" }]);
    expect(underWay(run, child)).toEqual([1]);
    run.result(1, "found", child);
    expect(run.resultsSeen()).toEqual(["{}"]);
  });

  test("occupy no slot if they never start: refused ones, and those of runtime tools", () => {
    const run = new PlayedRun({}, setting);
    run.turn(...times(4, "nothing"), ...times(4, "memory_list"), ...times(8, "search"));
    expect(underWay(run)).toEqual([8, 9, 10, 11, 12, 13, 14, 15]);
  });

  test("of the planner follow the capabilities of its own provider", () => {
    const run = new PlayedRun(
      { planningEnabled: true },
      { tools, prepared: { planningCapabilities: { tools: true, parallelToolCalls: false } } },
    );
    expect(underWay(run.turn(...times(2, "search")), "planner")).toEqual([0]);
    run.result(0).result(1).says(`{"steps":[]}`).turn();
    expect(underWay(run.turn(...times(2, "search")))).toEqual([0, 1]);
  });
});

describe("a call that waits for an approval", () => {
  test("lets its siblings run, and blocks the serial calls behind it", () => {
    const run = new PlayedRun({ hitlTools: ["write"] }, setting);
    run.turn({ name: "write" }, { name: "paint" }, { name: "search" });
    expect(underWay(run)).toEqual([2]);
    run.decides(ApprovalState.APPROVED);
    expect(underWay(run)).toEqual([0, 2]);
  });

  test("interrupts no call in progress when it is approved", () => {
    const run = new PlayedRun(
      { hitlTools: ["write"], budgets: { maxParallel: 2 } },
      {
        ...setting,
        tools: [...tools, { name: "ask" }],
      },
    );
    run.turn({ name: "write" }, ...times(2, "search"));
    run.decides(ApprovalState.APPROVED);
    expect(underWay(run)).toEqual([1, 2]);
    expect(nextEffects(run.state)).toHaveLength(2);
    expect(underWay(run.result(1))).toEqual([0, 2]);
  });
});

/** Returns a run with two subtasks in progress. */
const pair = (spec = {}): [PlayedRun, string, string] => {
  const run = new PlayedRun(spec, setting).turn(subtask("a"), subtask("b"));
  const [a = "", b = ""] = run.subtasks;
  return [run, a, b];
};

describe("over the whole run", () => {
  // Requirement: LOOP-2
  test("at most the limit of calls is in progress, whichever subtask made them", () => {
    const [run, a, b] = pair({ budgets: { maxParallel: 3 } });
    run.turnIn(a, times(2, "search")).turnIn(b, times(2, "search"));
    expect([underWay(run, a), underWay(run, b)]).toEqual([[0, 1], [0]]);
    run.result(0, "found", a);
    expect([underWay(run, a), underWay(run, b)]).toEqual([[1], [0, 1]]);
  });

  test("a lock is held once, and passes to the sibling that waits for it", () => {
    const [run, a, b] = pair();
    run.turnIn(a, times(1, "write")).turnIn(b, times(1, "write"));
    expect([underWay(run, a), underWay(run, b)]).toEqual([[0], []]);
    run.result(0, "written", a);
    expect(underWay(run, b)).toEqual([0]);
  });

  test("of the calls that are not parallel-safe one runs at a time, also across siblings", () => {
    const [run, a, b] = pair();
    run.turnIn(a, times(1, "alone")).turnIn(b, [{ name: "alone" }, { name: "search" }]);
    expect([underWay(run, a), underWay(run, b)]).toEqual([[0], [1]]);
    run.result(1, "found", b);
    expect(underWay(run, b)).toEqual([]);
    run.result(0, "done", a);
    expect(underWay(run, b)).toEqual([0]);
  });
});
