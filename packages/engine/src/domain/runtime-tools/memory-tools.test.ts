import { describe, expect, test } from "vitest";
import { PlayedRun, jobs, subtask } from "../../../test/support/run-player.ts";

const write = (key: string, value: string) => ({ name: "memory_write", args: { key, value } });
const read = (key: string, offset?: number) => ({
  name: "memory_read",
  args: { key, ...(offset !== undefined && { offset }) },
});
const list = { name: "memory_list" };
/** Returns the results of the last step's calls. */
const results = (run: PlayedRun, id?: string) => run.resultsSeen(id);

describe("the memory of a run", () => {
  test("is written, listed and read within one turn, in the order of the calls", () => {
    const run = new PlayedRun().turn(
      write("a", "one"),
      list,
      read("a"),
      write("a", "two"),
      read("a"),
    );
    expect(results(run)).toEqual([
      "kept under a",
      `[{"key":"a","characters":3}]`,
      "one",
      "kept under a",
      "two",
    ]);
  });

  // Requirement: SUB-5, CHAT-3
  test("is shared with subtasks, both ways", () => {
    const run = new PlayedRun().turn(write("a", "one"), subtask("s"));
    const [child = ""] = run.subtasks;
    run.turnIn(child, [read("a"), write("b", "two")]);
    expect(results(run, child)[0]).toBe("one");
    run.says("done", child).turnIn(child).turn(read("b"));
    expect(run.resultsSeen().at(-1)).toBe("two");
  });

  // Requirement: SUB-10
  test("has the result of a subtask under task:<its id>", () => {
    const run = new PlayedRun({ allowParallelSubagents: true });
    run.turn(subtask("a"), jobs({ task: "b" }, { task: "c" }));
    const ids = run.subtasks;
    for (const id of ids) run.says(`did ${id}`, id).turnIn(id);
    run.turn(...ids.map((id) => read(`task:${id}`)));
    expect(run.resultsSeen().slice(-3)).toEqual(ids.map((id) => `did ${id}`));
  });

  test("has the error of a failed subtask, too", () => {
    const run = new PlayedRun().turn(subtask("a"));
    const [child = ""] = run.subtasks;
    run.fails("refused", { id: child }).turn(read(`task:${child}`));
    expect(JSON.parse(run.resultsSeen().at(-1) ?? "")).toMatchObject({ error: "refused" });
  });

  // Requirement: SUB-10
  test("hides the results of a turn's subtasks from each other until all have ended", () => {
    const run = new PlayedRun().turn(subtask("a"), subtask("b"));
    const [a = "", b = ""] = run.subtasks;
    run
      .says("a is 1", a)
      .turnIn(a)
      .turnIn(b, [read(`task:${a}`), list]);
    expect(results(run, b)).toEqual([expect.stringContaining("there is no entry"), "[]"]);
    run.says("b is 2", b).turnIn(b);
    run.turn(read(`task:${a}`), subtask("c"));
    expect(run.resultsSeen().at(-2)).toBe("a is 1");
    const [c = ""] = run.subtasks;
    run.turnIn(c, [read(`task:${b}`)]);
    expect(results(run, c)).toEqual(["b is 2"]);
  });

  test.each([
    ["a key of subtasks", write("task:x", "v"), "keys that begin with task: are for results"],
    ["an empty key", write("", "v"), "a key has 1 to 128 characters"],
    ["a long key", write("k".repeat(129), "v"), "this one has 129"],
    ["a long value", write("k", "v".repeat(65_537)), "this one has 65537"],
    ["an entry that is not there", read("k"), 'there is no entry "k"; there are: none'],
    ["a key of another type", { name: "memory_read", args: { key: 7 } }, "key must be string"],
    ["no key", { name: "memory_read" }, "required property 'key'"],
  ])("refuses %s, without an effect on the sibling call", (_, call, problem) => {
    const run = new PlayedRun().turn(call, { name: "search" });
    expect(run.all("toolResult")).toMatchObject([
      { success: false, error: expect.stringContaining(problem) },
    ]);
    expect(run.all("memoryWritten")).toEqual([]);
    expect(run.result(1).resultsSeen().at(-1)).toBe("found");
  });

  test("has at most 200 entries, which may be overwritten", () => {
    const run = new PlayedRun({ budgets: { maxToolCalls: 1_000 } });
    run.turn(...Array.from({ length: 201 }, (_, index) => write(`k${index}`, "v")));
    expect(run.resultsSeen().filter((content) => content.startsWith("kept"))).toHaveLength(200);
    expect(run.turn(write("k0", "w")).resultsSeen().at(-1)).toBe("kept under k0");
  });

  test("is read in parts that fit into a result and form the complete entry", () => {
    const value = `x${"😀ü".repeat(500)}`;
    const run = new PlayedRun({ budgets: { maxResultBytes: 1_000 } }).turn(write("k", value));
    let whole = "";
    for (let offset: number | undefined = 0; offset !== undefined;) {
      const content: string = run.turn(read("k", offset)).resultsSeen().at(-1) ?? "";
      expect(new TextEncoder().encode(content).length).toBeLessThanOrEqual(1_000);
      const [part = "", next] = content.split(/\n\[characters .* read on with offset (\d+)\]$/);
      expect(part.isWellFormed()).toBe(true);
      whole += part;
      offset = next === undefined ? undefined : Number(next);
    }
    expect(whole).toBe(value);
  });
});
