import { create } from "@bufbuild/protobuf";
import { IncompleteReason } from "@reeve/contracts/run";
import { TurnEndedSchema, TurnIncompleteReason } from "@reeve/contracts/thread";
import { ToolStatus } from "@reeve/contracts/tool";
import { runOf } from "@reeve/run/head/run-of";
import { turnMessages } from "@reeve/run/thread/thread-messages";
import { turnEnded } from "@reeve/run/thread/turn-ended";
import { describe, expect, test } from "vitest";
import { expectOrder } from "../../test/support/event-order.ts";
import { PlayedRun, jobs, subtask } from "../../test/support/run-player.ts";
import { takeOver } from "../../test/support/random-world.ts";

const { FILTERED, TRUNCATED, UNSPECIFIED } = IncompleteReason;
const continuing = { answerPolicy: { truncated: "continue" } };
const status = (run: PlayedRun) => run.all("status").at(-1);

describe("a truncated answer", () => {
  test("completes the run, marked as truncated", () => {
    const run = new PlayedRun().answers("Twenty-", "length");
    expect(run.end).toBe("completed");
    expect(status(run)).toMatchObject({
      incompleteReason: TRUNCATED,
      message: expect.stringContaining("raise max_tokens"),
    });
    expect(runOf(run.state.head)).toMatchObject({
      output: "Twenty-",
      incompleteReason: TRUNCATED,
    });
    expectOrder(run.events);
  });

  test("ends the run with an error if the agent says so", () => {
    const run = new PlayedRun({ answerPolicy: { truncated: "error" } });
    run.answers("Twenty-", "length");
    expect(run.clientTrace.slice(-4)).toEqual([
      "step:completed",
      "error:answer_truncated",
      "costSummary",
      "status:error",
    ]);
    expect(status(run)).toMatchObject({ incompleteReason: TRUNCATED });
    expectOrder(run.events);
  });

  test("is continued if the agent says so, and its parts are one answer", () => {
    const run = new PlayedRun(continuing).says("Let me look.").turn({ name: "search" }).result(0);
    run.answers("Twenty-", "length");
    expect(run.prompt().at(-1)).toMatchObject({
      role: "user",
      text: expect.stringContaining("Continue it exactly where it ends"),
    });
    run.answers("one.", "stop");
    expect(run.end).toBe("completed");
    expect(runOf(run.state.head)).toMatchObject({
      output: "Twenty-one.",
      incompleteReason: UNSPECIFIED,
    });
    expect(status(run)?.message).toBe("");
    expectOrder(run.events);
  });

  test("leaves one message in the thread however often it was continued", () => {
    const run = new PlayedRun(continuing).answers("Twenty-", "length").answers("one.", "stop");
    const { messages = [] } = turnEnded("run_test", run.events);
    const [, answer, ...others] = messages.map(({ message }) => message);
    expect(answer).toMatchObject({
      case: "assistant",
      value: { text: "Twenty-one.", format: "", messageJson: new Uint8Array() },
    });
    expect(others).toEqual([]);
  });

  test.each([
    ["three times", {}, 4],
    ["as often as the agent permits", { maxContinuations: 1 }, 2],
  ])("is continued %s, and is then marked as truncated", (_, policy, turns) => {
    const run = new PlayedRun({ answerPolicy: { truncated: "continue", ...policy } });
    for (let turn = 1; turn <= turns; turn++) run.answers("more ", "length");
    expect(run.end).toBe("completed");
    expect(runOf(run.state.head)).toMatchObject({
      output: "more ".repeat(turns),
      incompleteReason: TRUNCATED,
    });
  });

  test("is not continued beyond the steps of the run", () => {
    const run = new PlayedRun({ ...continuing, maxRounds: 1 }).answers("Twenty-", "length");
    expect(run.end).toBe("completed");
    expect(status(run)).toMatchObject({ incompleteReason: TRUNCATED });
  });

  test("gives way to a message that arrived meanwhile", () => {
    const run = new PlayedRun(continuing).receivesMessage("stop it").answers("Twenty-", "length");
    expect(run.prompt().at(-1)).toMatchObject({ role: "user", text: "stop it" });
    expect(JSON.stringify(run.prompt())).not.toContain("Continue it");
    run.answers("As you wish.", "stop");
    expect(runOf(run.state.head)).toMatchObject({ output: "As you wish.", incompleteReason: 0 });
  });

  test("is continued by another worker, whichever event was the last of the first one", () => {
    const run = new PlayedRun(continuing).answers("Twenty-", "length").answers("one.", "stop");
    for (let survived = 1; survived <= run.events.length; survived++) {
      expectOrder(takeOver(run.events, survived).events);
    }
  });

  test("that has calls is no answer", () => {
    const run = new PlayedRun({ answerPolicy: { truncated: "error" } });
    run.turnIn("", [{ name: "search" }], { finishReason: "length" }).result(0);
    expect(run.answers("Done.", "stop").end).toBe("completed");
    expect(status(run)).toMatchObject({ incompleteReason: UNSPECIFIED });
  });

  test("of the planner is no plan", () => {
    const run = new PlayedRun({ planningEnabled: true }).answers("1. look\n2. te", "length");
    expect(run.clientTrace.slice(-2)).toEqual(["error:planner_failed", "step:started"]);
  });
});

describe("a filtered answer", () => {
  test.each(["content_filter", "refusal"])("(%s) ends the run with an error", (reason) => {
    const run = new PlayedRun().answers("I would", reason);
    expect(run.end).toBe("error");
    expect(run.all("error")).toMatchObject([{ reason: "answer_filtered" }]);
    expect(runOf(run.state.head)).toMatchObject({ output: "I would", incompleteReason: FILTERED });
    expectOrder(run.events);
  });

  test("completes the run, marked as filtered, if the agent says so", () => {
    const run = new PlayedRun({ answerPolicy: { filtered: "complete" } });
    run.answers("I would", "content_filter");
    expect(run.end).toBe("completed");
    expect(status(run)).toMatchObject({ incompleteReason: FILTERED });
  });

  test("without text does not become the text of an earlier step", () => {
    const run = new PlayedRun({ answerPolicy: { filtered: "complete" } });
    run.says("Let me check.").turn({ name: "search" }).result(0).answers("", "content_filter");
    expect(runOf(run.state.head)).toMatchObject({ output: "", incompleteReason: FILTERED });
  });
});

/** Returns a run with one subtask in progress, and the id of the subtask. */
const begun = (spec = {}) => {
  const run = new PlayedRun(spec).turn(subtask("a"));
  return { run, child: run.subtasks[0] ?? "" };
};

describe("the incomplete answer of a subtask", () => {
  test("is marked in its event, in the result of the call, and in the shared memory", () => {
    const { run, child } = begun();
    run.answers("A 10, B 2", "length", child);
    expect(run.all("subtask").at(-1)).toMatchObject({
      ended: true,
      isError: false,
      incompleteReason: TRUNCATED,
    });
    const { result } = run.all("toolResult").at(-1) ?? {};
    expect(result?.metadata?.status).toBe(ToolStatus.INCOMPLETE);
    expect(result?.content).toMatch(/^\[incomplete: the answer is truncated.*\]\nA 10, B 2$/);
    expect(run.says("done").turn().state.memory.get(`task:${child}`)).toBe(result?.content);
  });

  test("has its own status among the entries of parallel jobs", () => {
    const run = new PlayedRun({
      allowParallelSubagents: true,
      answerPolicy: { filtered: "complete" },
    });
    run.turn(jobs({ task: "a" }, { task: "b" }, { task: "c" }));
    const [a = "", b = "", c = ""] = run.subtasks;
    run.answers("A", "length", a).answers("B", "stop", b).answers("", "content_filter", c);
    expect(JSON.parse(run.lastResult ?? "")).toMatchObject([
      { status: "truncated" },
      { status: "success", result: "B" },
      { status: "filtered" },
    ]);
  });

  test("is an error for its caller if it is filtered, and does not become an earlier text", () => {
    const { run, child } = begun();
    run
      .says("Let me check.", child)
      .turnIn(child, [{ name: "search" }])
      .result(0, "x", child);
    run.answers("", "content_filter", child);
    expect(run.all("subtask").at(-1)).toMatchObject({
      error: "answer_filtered",
      incompleteReason: FILTERED,
    });
    expect(run.all("toolResult").at(-1)).toMatchObject({ success: false });
    expect(run.end).toBeUndefined();
  });

  test("is continued like an answer of the run, and its parts are one result", () => {
    const { run, child } = begun(continuing);
    run.answers("A 10, ", "length", child).answers("B 2", "stop", child);
    expect(run.lastResult).toBe("A 10, B 2");
  });

  test("without text does not become an earlier text if the subtask completes", () => {
    const { run, child } = begun();
    run
      .says("Let me check.", child)
      .turnIn(child, [{ name: "search" }])
      .result(0, "x", child);
    run.answers("", "length", child);
    expect(run.lastResult).toMatch(/^\[incomplete: .*\]\n$/);
  });
});

test.each([
  ["truncated", TurnIncompleteReason.TRUNCATED, "length"],
  ["filtered", TurnIncompleteReason.FILTERED, "content_filter"],
  ["complete", TurnIncompleteReason.UNSPECIFIED, "stop"],
])("an answer that is %s is marked so in its thread", (_, incompleteReason, finishReason) => {
  const run = new PlayedRun({ answerPolicy: { filtered: "complete" } });
  run.answers("Twenty-", finishReason);
  const ended = create(TurnEndedSchema, turnEnded("run_test", run.events));
  expect(ended.incompleteReason).toBe(incompleteReason);
  expect(turnMessages(ended, undefined).at(-1)).toMatchObject({
    text: "Twenty-",
    incompleteReason,
  });
});
