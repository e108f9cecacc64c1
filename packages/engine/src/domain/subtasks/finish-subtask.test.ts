import { describe, expect, test } from "vitest";
import { nextEffects } from "../next-effects.ts";
import { PlayedRun, subtask } from "../../../test/support/run-player.ts";
import { expectOrder } from "../../../test/support/event-order.ts";

const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };

/** Returns a run with a subtask whose result is a number, and the id of the subtask. */
function owing(spec = {}): [PlayedRun, string] {
  const run = new PlayedRun(spec).turn(subtask("a", { output_schema: schema }));
  return [run, run.subtasks[0] ?? ""];
}
const order = { properties: { n: { type: "integer" } }, required: ["n"] };

// Requirement: SUB-3, SUB-6
test.each<[string, object]>([
  ["without a type", order],
  ["with a list of types", { type: ["object", "null"], ...order }],
  ["behind a reference", { $ref: "#/$defs/order", $defs: { order } }],
  ["that is a choice of objects", { anyOf: [{ type: "object", ...order }, { required: ["m"] }] }],
])("a result can be an object %s", (_, output_schema) => {
  const run = new PlayedRun().turn(subtask("a", { output_schema }));
  const child = run.subtasks[0] ?? "";
  run.turnIn(child, [finish({ n: "x" })]);
  expect(run.resultsSeen(child)[0]).toContain("n must be integer");
  run.turnIn(child, [finish({ n: 4 })]);
  expect(run.resultsSeen()).toEqual([`{"n":4}`]);
});

// Requirement: SUB-6
test.each<[string, object]>([
  ["a list", { type: "array", items: { $ref: "#/$defs/order" }, $defs: { order } }],
  ["a choice", { anyOf: [{ type: "string" }, { items: order, type: "array" }] }],
])("a result that is %s is the property `result`", (_, output_schema) => {
  const run = new PlayedRun().turn(subtask("a", { output_schema }));
  const child = run.subtasks[0] ?? "";
  run.turnIn(child, [finish({ result: [{ n: "x" }] })]);
  expect(run.resultsSeen(child)[0]).toContain("result.0.n must be integer");
  run.turnIn(child, [finish({ result: [{ n: 4 }] })]);
  expect(run.resultsSeen()).toEqual([`{"result":[{"n":4}]}`]);
});

const finish = (args: object | string) => ({ name: "finish_subtask", args });

// Requirement: SUB-6
describe("a subtask whose result has a schema", () => {
  test("ends with the first valid call of finish_subtask, whose arguments are the result", () => {
    const [run, child] = owing();
    run.turnIn(child, [finish({ n: 4 })]);
    expect(run.resultsSeen()).toEqual([`{"n":4}`]);
    expect(run.all("toolResult").at(-1)?.result?.structured).toEqual({ n: 4 });
    expectOrder(run.says("4").turn().events);
  });

  test("reads the problems of its result, and may retry three times", () => {
    const [run, child] = owing();
    for (const wrong of [{ n: "x" }, {}, "{broken"]) run.turnIn(child, [finish(wrong)]);
    expect(run.resultsSeen(child)).toEqual([
      expect.stringContaining("n must be integer"),
      expect.stringContaining("required property 'n'"),
      expect.stringContaining("not a JSON object"),
    ]);
    run.turnIn(child, [finish({ n: 4 })]);
    expect(run.resultsSeen()).toEqual([`{"n":4}`]);
  });

  test("may retry after several invalid calls in one turn, which are one attempt", () => {
    const [run, child] = owing();
    run.turnIn(child, [finish({}), finish({}), finish({}), finish({})]);
    run.turnIn(child, [finish({ n: 4 })]);
    expect(run.resultsSeen()).toEqual([`{"n":4}`]);
  });

  test("fails for its caller after the third retry, and the run continues", () => {
    const [run, child] = owing();
    for (let call = 1; call <= 4; call++) run.turnIn(child, [finish({})]);
    expect(JSON.parse(run.resultsSeen()[0] ?? "")).toMatchObject({ error: "schema_not_satisfied" });
    expect(run.all("subtask").at(-1)).toMatchObject({ error: "schema_not_satisfied" });
    expectOrder(run.says("sorry").turn().events);
  });

  test("fails in the same way when it never finishes within its steps", () => {
    const [run, child] = owing({ maxRounds: 2 });
    for (let round = 1; round <= 2; round++) {
      run.turnIn(child, [{ name: "search" }]).result(0, "found", child);
    }
    expect(JSON.parse(run.resultsSeen()[0] ?? "")).toMatchObject({ error: "schema_not_satisfied" });
    expect(run.end).toBeUndefined();
  });

  test("is reminded when it answers in plain text, and continues", () => {
    const [run, child] = owing();
    run.says("it is 4", child).turnIn(child);
    expect(run.prompt(child).at(-1)).toMatchObject({
      role: "user",
      text: expect.stringContaining("Call finish_subtask"),
    });
    expect(run.frame(child).step).toBe(2);
    run.turnIn(child, [finish({ n: 4 })]);
    expect(run.resultsSeen()).toEqual([`{"n":4}`]);
  });

  test("executes the other calls of the turn first, and then ends", () => {
    const [run, child] = owing();
    run.turnIn(child, [finish({ n: 4 }), { name: "search" }]);
    expect(run.subtasks).toEqual([child]);
    run.result(1, "found", child);
    expect(run.subtasks).toEqual([]);
    expectOrder(run.says("4").turn().events);
  });

  test("ends with the first of two valid calls of one turn", () => {
    const [run, child] = owing();
    run.turnIn(child, [finish({ n: 4 }), finish({ n: 5 })]);
    expect(run.resultsSeen()).toEqual([`{"n":4}`]);
    expect(run.all("toolResult").map(({ success }) => success)).toEqual([true, false, true]);
  });

  test("returns all of its arguments: none of them is an injected one", () => {
    const named = { type: "object", properties: { origin: { type: "string" } } };
    const run = new PlayedRun({ injectedToolArgs: { origin: "who calls" } });
    run.turn(subtask("a", { output_schema: named, origin: "console" }));
    expect(run.frame().calls[0]?.call.injectedArgs).toEqual({ origin: "console" });
    const [child = ""] = run.subtasks;
    run.turnIn(child, [finish({ origin: "the sea" })]);
    expect(run.resultsSeen()).toEqual([`{"origin":"the sea"}`]);
  });
});

test("finish_subtask is not offered to the root or to a subtask without a schema", () => {
  const run = new PlayedRun().turn(finish({}), subtask("a"));
  const [child = ""] = run.subtasks;
  run.turnIn(child, [finish({})]);
  const errors = run.all("toolResult").map(({ error }) => error);
  expect(errors).toHaveLength(2);
  for (const error of errors) expect(error).toContain('there is no tool "finish_subtask"');
});

test("a subtask whose model fails permanently fails for its caller with the reason, in a closed step", () => {
  const run = new PlayedRun().turn(subtask("a"), subtask("b"));
  const [failing = "", other = ""] = run.subtasks;
  run.says("half an", failing).fails("rate_limited", { id: failing });
  expect(run.subtasks).toEqual([other]);
  expect(nextEffects(run.state)).toMatchObject([{ kind: "call_model", frame: other }]);
  run.says("b is done", other).turnIn(other);
  expect(JSON.parse(run.resultsSeen()[0] ?? "")).toMatchObject({ error: "rate_limited" });
  expect(run.resultsSeen()[1]).toBe("b is done");
  expectOrder(run.says("half of it").turn().events);
});

// Requirement: LOOP-6
test("a subtask that exceeds its steps is a structured error of that subtask only", () => {
  const run = new PlayedRun({ maxRounds: 1 }).turn(subtask("a"));
  const [child = ""] = run.subtasks;
  run.turnIn(child, [{ name: "search" }]).result(0, "found", child);
  expect(run.all("subtask").at(-1)).toMatchObject({ isError: true, error: "iteration_limit" });
  expect(JSON.parse(run.lastResult ?? "")).toMatchObject({ error: "iteration_limit" });
});
