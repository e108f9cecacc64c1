import { PermissionClass } from "@reeve/contracts/tool";
import { retrieveArtifact } from "@reeve/agent/tools/runtime-tools";
import { describe, expect, test } from "vitest";
import { PlayedRun, jobs, subtask } from "../../../test/support/run-player.ts";
import { expectOrder } from "../../../test/support/event-order.ts";

const parallel = { allowParallelSubagents: true, maxParallelSubagents: 7 };
const toolsOf = (run: PlayedRun, id: string) => [...run.frame(id).tools.keys()];

/** A run whose root also has secret and editor tools, which subtasks may not have. */
const guarded = (spec = {}) =>
  new PlayedRun(spec, {
    tools: [
      { name: "search" },
      { name: "count" },
      { name: "vault", permissionClass: PermissionClass.SECRETS },
      { name: "add_node", permissionClass: PermissionClass.EDITOR_MUTATE },
    ],
  });

describe("a subtask", () => {
  // Requirement: SUB-1, SUB-5
  test("sees its instructions and context, and nothing of its caller's conversation", () => {
    const run = new PlayedRun({}, { created: { input: "the secret plan" } });
    run.turn(subtask("a", { additional_context: "it is urgent" }));
    const [child = ""] = run.subtasks;
    expect(run.prompt(child)).toEqual([{ role: "user", text: "do a\n\nit is urgent" }]);
  });

  // Requirement: SUB-11
  test("has the id of its call, is one deeper, and its events name it as their parent", () => {
    const run = new PlayedRun().turn(subtask("a"));
    const [child = ""] = run.subtasks;
    expect(child).toBe(run.all("toolCall")[0]?.callId);
    run.says("done", child);
    expect(run.events.at(-1)).toMatchObject({ parentId: child, depth: 1, stepNumber: 1 });
  });

  // Requirement: SUB-7
  test("returns its last text as the result of the call", () => {
    const run = new PlayedRun().turn(subtask("a"));
    const [child = ""] = run.subtasks;
    run
      .says("thinking", child)
      .turnIn(child, [{ name: "search" }])
      .result(0, "found", child);
    run.says("the answer is 4", child).turnIn(child);
    expect(run.resultsSeen()).toEqual(["the answer is 4"]);
    expectOrder(run.says("4").turn().events);
  });

  test("returns its last text when its last turn has none", () => {
    const run = new PlayedRun().turn(subtask("a"));
    const [child = ""] = run.subtasks;
    run
      .says("it is 4", child)
      .turnIn(child, [{ name: "search" }])
      .result(0, "found", child);
    run.turnIn(child);
    expect(run.resultsSeen()).toEqual(["it is 4"]);
  });

  // Requirement: SUB-3
  test.each([
    ["all that its caller may give when it names none", undefined, ["search", "count"]],
    ["none when the list is empty", [], []],
    ["those that are named", ["count"], ["count"]],
  ])("has %s", (_, tools, expected) => {
    const run = guarded().turn(subtask("a", { tools }));
    const names = toolsOf(run, run.subtasks[0] ?? "");
    const own = ["run_subtask", "memory_read", "add_todo"];
    expect(names.filter((name) => !own.includes(name) && !/memory|todo/.test(name))).toEqual(
      expected,
    );
    expect(own.every((name) => names.includes(name))).toBe(tools === undefined);
  });

  // Requirement: SUB-3
  test("never has secret or editor tools, and a call that requests them is refused by name", () => {
    const run = guarded();
    run.turn(subtask("a", { tools: ["search", "vault", "add_node"] }), { name: "count" });
    expect(run.subtasks).toEqual([]);
    expect(run.lastResult).toContain("a subtask cannot have the tools vault, add_node");
    expect(run.lastResult).toContain("search, count");
    // Its sibling is in progress, and the run continues.
    run.result(1);
    expect(run.resultsSeen()).toHaveLength(2);
    expect(run.clientTrace.at(-1)).toBe("step:started");
  });

  // Requirement: SUB-4
  test("does not change its caller's tools and instructions", () => {
    const run = guarded(parallel);
    const before = toolsOf(run, "");
    run.turn(jobs({ task: "x", tool_names: [], system_prompt: "You are a pirate." }));
    expect(toolsOf(run, "")).toEqual(before);
  });

  test("withholds the same tools from its own subtasks", () => {
    const run = guarded().turn(subtask("a", { tools: ["run_subtask", "search"] }));
    const [child = ""] = run.subtasks;
    run.turnIn(child, [subtask("b", { tools: ["count"] })]);
    expect(run.lastResult).toContain("a subtask cannot have the tools count");
    run.turnIn(child, [subtask("b")]);
    expect(toolsOf(run, run.subtasks[1] ?? "")).toEqual(["search", "run_subtask", "memory_read"]);
  });

  // Requirement: SUB-9, TURN-1
  test("may be nested three deep, and the fourth level is refused before it starts", () => {
    const run = new PlayedRun();
    let deepest = "";
    for (const title of ["a", "b", "c"]) {
      run.turnIn(deepest, [subtask(title)]);
      deepest = run.subtasks.at(-1) ?? "";
    }
    expect(run.frame(deepest).depth).toBe(3);
    run.turnIn(deepest, [subtask("d"), { name: "search" }]);
    expect(run.subtasks).toHaveLength(3);
    expect(run.lastResult).toContain("subtasks may be nested 3 deep, and this one would be deeper");
    run.result(1, "found", deepest);
    expect(run.frame(deepest).step).toBe(2);
    for (const id of run.subtasks.toReversed()) run.says(`${id} done`, id).turnIn(id);
    expect(run.says("all done").turn().end).toBe("completed");
    expectOrder(run.events);
  });

  // Requirement: SUB-1
  test.each([
    ["without instructions", { instructions: " " }, "the instructions are empty"],
    ["with an unknown tool", { tools: ["nothing"] }, "cannot have the tools nothing"],
    [
      "with a schema that is none",
      { output_schema: { type: "banana" } },
      "is not a valid JSON Schema",
    ],
    ["with a reference to nothing", { output_schema: { $ref: "#/$defs/a" } }, "resolve reference"],
    ["with a number for its title", { title: 7 }, "title must be string"],
  ])("%s is refused", (_, args, problem) => {
    const run = new PlayedRun().turn(subtask("a", args));
    expect(run.all("subtask")).toEqual([]);
    expect(run.resultsSeen()).toEqual([expect.stringContaining(problem)]);
    expect(run.clientTrace.slice(-3)).toEqual([
      "toolResult:error",
      "step:completed",
      "step:started",
    ]);
  });
});

describe("a call of several jobs", () => {
  // Requirement: CFG-8, SUB-2
  test("is not offered to an agent that does not allow it", () => {
    const run = new PlayedRun({ maxParallelSubagents: 7 }).turn(jobs({ task: "x" }));
    expect(run.lastResult).toContain('there is no tool "run_parallel_subtasks"');
  });

  // Requirement: SUB-11
  test("starts one subtask for each, with its own id and framing", () => {
    const run = new PlayedRun(parallel).turn(
      jobs({ task: "x", system_prompt: "You are a pirate." }, { task: "y" }),
    );
    const callId = run.all("toolCall")[0]?.callId ?? "";
    expect(run.subtasks).toEqual([`${callId}/0`, `${callId}/1`]);
    expect(run.frame(`${callId}/0`).subtask?.job.systemPrompt).toBe("You are a pirate.");
  });

  // Requirement: CFG-9, SUB-3
  test.each([
    [
      "more jobs than the agent allows",
      Array.from({ length: 3 }, () => ({ task: "x" })),
      "NOT have more than 2",
    ],
    ["no job", [], "NOT have fewer than 1"],
    [
      "an unknown tool in its last job",
      [{ task: "x" }, { task: "y", tool_names: ["no"] }],
      "job 1: ",
    ],
    [
      "a broken schema in its last job",
      [{ task: "x" }, { task: "y", output_schema: { type: 1 } }],
      "job 1: ",
    ],
  ])("with %s is refused as a whole, before any begins", (_, list, problem) => {
    const run = new PlayedRun({ ...parallel, maxParallelSubagents: 2 });
    run.turn(jobs(...list), { name: "search" });
    expect(run.all("subtask")).toEqual([]);
    expect(run.lastResult).toContain(problem);
    expect(run.result(1).clientTrace.at(-1)).toBe("step:started");
  });

  // Requirement: CFG-9, SUB-2
  test("never has more than seven, whatever the agent spec says", () => {
    const run = new PlayedRun({ ...parallel, maxParallelSubagents: 50 });
    run.turn(jobs(...Array.from({ length: 8 }, () => ({ task: "x" }))));
    expect(run.lastResult).toContain("NOT have more than 7");
  });

  // Requirement: SUB-8
  test("returns an entry for each job in their order, and a failed job does not affect the others", () => {
    const run = new PlayedRun(parallel);
    run.turn(jobs(...Array.from({ length: 7 }, (_, index) => ({ task: `part ${index}` }))));
    for (const [index, id] of run.subtasks.toReversed().entries()) {
      if (index === 2) run.fails("refused", { id });
      else run.says(`part ${id.at(-1)} done`, id).turnIn(id);
    }
    const entries: unknown = JSON.parse(run.resultsSeen()[0] ?? "");
    const message = "model m failed: the provider says refused";
    expect(entries).toEqual(
      Array.from({ length: 7 }, (_, index) =>
        index === 4
          ? { index, status: "error", error: { error: "refused", message } }
          : { index, status: "success", result: `part ${index} done` },
      ),
    );
    expect(run.all("toolResult")[0]?.success).toBe(true);
    expectOrder(run.says("ok").turn().events);
  });

  test("fails when all of its jobs failed", () => {
    const run = new PlayedRun(parallel).turn(jobs({ task: "x" }, { task: "y" }));
    for (const id of run.subtasks) run.fails("refused", { id });
    expect(run.all("toolResult")[0]?.success).toBe(false);
    expect(run.end).toBeUndefined();
  });
});

// Requirement: META-4, SUB-3
test("a subtask with named tools also has those that their results name", () => {
  const run = new PlayedRun(
    {},
    { tools: [{ name: "search", source: "builtin" }, retrieveArtifact] },
  );
  run.turn(
    subtask("a", { tools: ["search"] }),
    subtask("b", { tools: ["run_subtask"] }),
    subtask("c", { tools: ["list_todos"] }),
    subtask("d", { tools: [] }),
  );
  expect(run.subtasks.map((id) => [...run.frame(id).tools.keys()])).toEqual([
    ["search", "retrieve_artifact"],
    ["run_subtask", "memory_read"],
    ["list_todos"],
    [],
  ]);
});
