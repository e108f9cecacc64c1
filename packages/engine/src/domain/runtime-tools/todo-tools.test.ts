import { describe, expect, test } from "vitest";
import { PlayedRun, subtask } from "../../../test/support/run-player.ts";

const add = (text: string) => ({ name: "add_todo", args: { text } });
const update = (id: number, status: string) => ({
  name: "update_todo_status",
  args: { id, status },
});
const complete = (id: number) => ({ name: "complete_todo", args: { id } });
const shown = (run: PlayedRun): unknown => JSON.parse(run.resultsSeen().at(-1) ?? "");

describe("the todos of a run", () => {
  // Requirement: KIT-4
  test("are added and listed with their numbers, each pending and not done", () => {
    const run = new PlayedRun().turn(add("look"), add("tell"), { name: "list_todos" });
    expect(shown(run)).toEqual([
      { id: 1, text: "look", status: "pending", done: false },
      { id: 2, text: "tell", status: "pending", done: false },
    ]);
  });

  // Requirement: KIT-4
  test("are done exactly if they are completed, by either tool", () => {
    const run = new PlayedRun().turn(add("a"), add("b"), update(1, "completed"), complete(2));
    expect(shown(run)).toMatchObject([
      { status: "completed", done: true },
      { status: "completed", done: true },
    ]);
    expect(shown(run.turn(update(1, "pending")))).toMatchObject([
      { status: "pending", done: false },
      {},
    ]);
  });

  // Requirement: KIT-4
  test("are in progress at most one at a time", () => {
    const run = new PlayedRun().turn(
      add("a"),
      add("b"),
      update(1, "in_progress"),
      update(2, "in_progress"),
    );
    expect(run.lastResult).toBe("todo 1 is in progress; complete it or set it back first");
    run.turn(update(1, "in_progress"), complete(1), update(2, "in_progress"));
    expect(shown(run)).toMatchObject([{ status: "completed" }, { status: "in_progress" }]);
  });

  test("are those of the whole run", () => {
    const run = new PlayedRun().turn(add("a"), subtask("s"));
    const [child = ""] = run.subtasks;
    run
      .turnIn(child, [add("b")])
      .says("ok", child)
      .turnIn(child)
      .turn({ name: "list_todos" });
    expect(shown(run)).toHaveLength(2);
  });

  test.each([
    ["no text", add(" "), "a todo has 1 to 2000 characters"],
    ["too long a text", add("x".repeat(2_001)), "this one has 2001"],
    ["a number that is not there", complete(7), "there is no todo 7; there are 0, numbered from 1"],
    [
      "an invalid status",
      update(1, "started"),
      "must be equal to one of the allowed values: pending, in_progress",
    ],
  ])("refuse %s", (_, call, problem) => {
    const run = new PlayedRun().turn(call);
    expect(run.lastResult).toContain(problem);
    expect(run.all("todosChanged")).toEqual([]);
    expect(run.clientTrace.at(-1)).toBe("step:started");
  });

  test("are at most a hundred", () => {
    const run = new PlayedRun().turn(...Array.from({ length: 101 }, () => add("x")));
    expect(run.lastResult).toBe("the list already has 100 todos, its maximum; add no more todos");
  });
});
