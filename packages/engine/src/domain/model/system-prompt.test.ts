import { describe, expect, test } from "vitest";
import { systemPrompt } from "./system-prompt.ts";
import { PlayedRun, jobs, subtask } from "../../../test/support/run-player.ts";

const of = (run: PlayedRun, id = "") => systemPrompt(run.state, run.frame(id));

describe("the system prompt of the root says", () => {
  // Requirement: SUB-10, SUB-12
  test("when to answer directly, that subtasks of a turn run in parallel, and that none reads another", () => {
    const prompt = of(new PlayedRun({ instructions: "You help." }));
    expect(prompt).toMatch(/^You help\.\n\nAnswer directly whatever you can answer directly/);
    expect(prompt).toContain("call run_subtask");
    expect(prompt).toContain(
      "in one turn run at the same time and cannot read each other's results",
    );
    expect(prompt).not.toContain("run_parallel_subtasks");
  });

  test("how to start several jobs in one call if that is allowed, also as the only way", () => {
    expect(of(new PlayedRun({ allowParallelSubagents: true }))).toContain("run_parallel_subtasks");
    const only = new PlayedRun({ allowParallelSubagents: true });
    const { tools } = only.frame();
    const prompt = systemPrompt(only.state, {
      ...only.frame(),
      tools: new Map([...tools].filter(([name]) => name !== "run_subtask")),
    });
    expect(prompt).toContain("call run_parallel_subtasks");
    expect(prompt).not.toContain("run_subtask,");
  });

  test("nothing about subtasks that the root cannot start", () => {
    expect(of(new PlayedRun({ budgets: { maxDepth: 0 } }))).not.toContain("subtask");
    expect(of(new PlayedRun({}, { prepared: { tools: [] } }))).not.toContain("subtask");
  });
});

describe("the system prompt of a subtask says", () => {
  // Requirement: SUB-12
  test("that it cannot ask questions, and how to start subtasks only above the depth limit", () => {
    const run = new PlayedRun({ budgets: { maxDepth: 2 } }).turn(subtask("a"));
    const [a = ""] = run.subtasks;
    run.turnIn(a, [subtask("b")]);
    const b = run.subtasks.at(-1) ?? "";
    expect(of(run, a)).toContain("you cannot ask questions");
    expect(of(run, a)).toContain("call run_subtask");
    expect(of(run, b)).not.toContain("run_subtask");
  });

  // Requirement: SUB-12
  test("to end by finish_subtask exactly if its result has a schema", () => {
    const run = new PlayedRun().turn(
      subtask("a", { output_schema: { type: "object" } }),
      subtask("b"),
    );
    const [a = "", b = ""] = run.subtasks;
    expect(of(run, a)).toContain("End this subtask by calling finish_subtask");
    expect(of(run, b)).not.toContain("finish_subtask");
  });

  test("its own framing, which no other frame has", () => {
    const run = new PlayedRun({ allowParallelSubagents: true });
    run.turn(jobs({ task: "a", system_prompt: "You are a pirate." }, { task: "b" }));
    const [a = "", b = ""] = run.subtasks;
    expect(of(run, a)).toContain("You are a pirate.");
    expect(of(run, b) + of(run)).not.toContain("pirate");
  });
});
