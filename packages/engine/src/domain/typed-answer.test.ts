import { finishTool } from "@reeve/agent/tools/finish-tool";
import { runtimeTools } from "@reeve/agent/tools/runtime-tools";
import { create, fromJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { Role } from "@reeve/contracts/thread";
import { runOf } from "@reeve/run/head/run-of";
import { describe, expect, test } from "vitest";
import { expectOrder } from "../../test/support/event-order.ts";
import { PlayedRun } from "../../test/support/run-player.ts";
import { systemPrompt } from "./model/system-prompt.ts";
import { rootOf } from "./state/run-state.ts";

const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
const finish = (args: object | string) => ({ name: "finish_subtask", args });

/** Returns a run whose answer is a number. */
function typed(spec = {}): PlayedRun {
  const search = { name: "search", inputSchema: { type: "object" } };
  const tools = [...runtimeTools(create(AgentSpecSchema)), search, finishTool(schema, "run")];
  return new PlayedRun({ outputSchema: schema, ...spec }, { prepared: { tools: [...tools] } });
}
const shown = ({ state }: PlayedRun) => runOf(state.head);

// Requirement: SUB-6
describe("a run whose answer has a schema", () => {
  test("ends with the first valid call of finish_subtask, whose arguments are the answer", () => {
    const run = typed()
      .says("thinking")
      .turn(finish({ n: 4 }));
    expect(run.end).toBe("completed");
    expect(shown(run)).toMatchObject({ structuredOutput: { n: 4 }, output: `{"n":4}` });
    expectOrder(run.events);
  });

  test("reads the problems of its answer, and may retry three times", () => {
    const run = typed();
    for (const wrong of [{ n: "x" }, {}, "{broken"]) run.turn(finish(wrong));
    expect(run.resultsSeen()).toEqual([
      expect.stringContaining("n must be integer"),
      expect.stringContaining("required property 'n'"),
      expect.stringContaining("not a JSON object"),
    ]);
    expect(run.turn(finish({ n: 4 })).end).toBe("completed");
  });

  test("ends with an error after the third retry", () => {
    const run = typed();
    for (let call = 1; call <= 4; call++) run.turn(finish({}));
    expect(run.end).toBe("error");
    expect(run.all("error")).toMatchObject([{ reason: "schema_not_satisfied" }]);
    expect(shown(run).structuredOutput).toBeUndefined();
    expectOrder(run.events);
  });

  test("ends in the same way when it never finishes within its steps", () => {
    const run = typed({ maxRounds: 2 });
    for (let round = 1; round <= 2; round++) run.turn({ name: "search" }).result(0, "found");
    expect(run.all("error")).toMatchObject([{ reason: "schema_not_satisfied" }]);
  });

  test("is reminded when it answers in plain text, and continues", () => {
    const run = typed().says("it is 4").turn();
    expect(run.prompt().at(-1)).toMatchObject({
      role: "user",
      text: expect.stringContaining("to end this run"),
    });
    expect(run.turn(finish({ n: 4 })).end).toBe("completed");
  });

  test("executes the other calls of the turn first, and then ends", () => {
    const run = typed().turn(finish({ n: 4 }), { name: "search" });
    expect(run.end).toBeUndefined();
    expect(run.result(1, "found").end).toBe("completed");
  });

  test("may retry three times again after it answered and a message arrived", () => {
    const run = typed();
    for (let index = 0; index < 3; index++) run.turn(finish({}));
    const message = { role: Role.USER, text: "make it 5" };
    run.write({ case: "messageSubmitted", value: { messageId: "m1", message } });
    run.turn(finish({}), finish({ n: 4 }));
    expect(shown(run).structuredOutput).toBeUndefined();
    for (let index = 0; index < 3; index++) run.turn(finish({}));
    expect(run.turn(finish({ n: 5 })).end).toBe("completed");
  });

  test("ends with an error when its model withholds the answer", () => {
    const run = typed().answers("it is", "content_filter");
    expect(run.end).toBe("error");
    expect(run.all("error")).toMatchObject([{ reason: "answer_filtered" }]);
    expectOrder(run.events);
  });

  test("takes up a message that arrived before it ended, and answers again", () => {
    const run = typed();
    const message = { role: Role.USER, text: "make it 5" };
    run.write({ case: "messageSubmitted", value: { messageId: "m1", message } });
    run.turn(finish({ n: 4 }));
    expect(run.end).toBeUndefined();
    expect(run.turn(finish({ n: 5 })).end).toBe("completed");
    expect(shown(run).structuredOutput).toEqual({ n: 5 });
  });

  test("asks nobody about its answer, whatever its permission rules say", () => {
    const rules = [{ tool: "*", behavior: "ask" }];
    const section = { default_behavior: "ask", rules };
    const run = typed({ sections: { permission: fromJson(ValueSchema, section) } });
    expect(run.turn(finish({ n: 4 })).end).toBe("completed");
  });

  test("tells its model so, and gives the tool to no subtask", () => {
    const run = typed();
    expect(systemPrompt(run.state, rootOf(run.state))).toContain("calling finish_subtask");
    run.turn({ name: "run_subtask", args: { title: "a", instructions: "do a" } });
    const [child = ""] = run.subtasks;
    expect([...run.frame(child).tools.keys()]).not.toContain("finish_subtask");
  });
});

test("a run that an earlier version prepared answers in text, although its agent has a schema", () => {
  const run = new PlayedRun({ outputSchema: schema }).says("it is 4").turn();
  expect(run.end).toBe("completed");
  expect(shown(run)).toMatchObject({ output: "it is 4" });
});
