import type { JsonObject } from "@bufbuild/protobuf";
import { fromBinary, fromJson, toBinary } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { finishTool } from "@reeve/agent/tools/finish-tool";
import { ApprovalState } from "@reeve/contracts/approval";
import { HookPhase } from "@reeve/contracts/extensions/plugin";
import type { RunEvent } from "@reeve/contracts/run";
import { RunEventSchema } from "@reeve/contracts/run";
import { Role } from "@reeve/contracts/thread";
import { runOf } from "@reeve/run/head/run-of";
import { describe, expect, test } from "vitest";
import { expectOrder } from "../../../test/support/event-order.ts";
import { PlayedRun, subtask } from "../../../test/support/run-player.ts";
import { nextEffects } from "../next-effects.ts";

/** Returns a run of an agent with these stop conditions. */
const stopping = (stop: JsonObject, spec: ConstructorParameters<typeof PlayedRun>[0] = {}) =>
  new PlayedRun(
    { ...spec, sections: { stop: fromJson(ValueSchema, stop) } },
    { tools: [{ name: "search", source: "builtin" }] },
  );
/** Returns a run that gives a number as its answer. */
function typedAndStopping(stop: JsonObject): PlayedRun {
  const n = { type: "integer" };
  const schema = { type: "object", properties: { n }, required: ["n"] };
  const finish = finishTool(schema, "run");
  const tools = [{ name: "search", inputSchema: { type: "object" } }, finish];
  const sections = { stop: fromJson(ValueSchema, stop) };
  return new PlayedRun({ outputSchema: schema, sections }, { prepared: { tools: [...tools] } });
}
/** Returns events as another worker reads them: nothing that the first one remembers of their objects applies. */
const copiesOf = (events: readonly RunEvent[]) =>
  events.map((event) => fromBinary(RunEventSchema, toBinary(RunEventSchema, event)));
const search = (query = "x") => ({ name: "search", args: { query } });
const unknown = { name: "nothing" };
const started = (run: PlayedRun) => run.all("toolCallStarted").length;

// Requirement: RES-5
describe("a run stops before the calls of a turn are executed", () => {
  test("and completes when the model calls a tool that stops it", () => {
    const run = stopping({ tools: ["search"] }).says("handing over");
    run.turn(search(), { name: "list_todos" });
    expect(run.end).toBe("completed");
    expect(started(run)).toBe(0);
    expect(run.all("toolResult").map(({ success }) => success)).toEqual([false, false]);
    expect(run.all("status").at(-1)?.message).toBe("stopped: the model called search");
    expectOrder(run.events);
  });

  test("and completes when the text of the turn matches", () => {
    const run = stopping({ content: ["\\bDONE\\b"] }).says("not yet");
    expect(run.turn(search()).result(0).end).toBeUndefined();
    expect(run.says("all DONE now").turn(search()).end).toBe("completed");
    expect(started(run)).toBe(1);
    expectOrder(run.events);
  });

  test("and fails when it makes the same calls in so many turns in a row", () => {
    const run = stopping({ repeated_turns: 3 });
    for (const query of ["a", "a", "b", "b"]) run.turn(search(query)).result(0);
    expect(run.end).toBeUndefined();
    expect(run.turn(search("b")).end).toBe("error");
    expect(run.all("error")).toMatchObject([{ reason: "loop_detected" }]);
    expect(started(run)).toBe(4);
    expectOrder(run.events);
  });

  test("and fails when so many calls in a row failed", () => {
    const run = stopping({ consecutive_errors: 3 });
    run.turn(unknown).turn(search()).result(0);
    run.turn(unknown).turn({ ...unknown, args: { a: 1 } }, { ...unknown, args: { b: 1 } });
    expect(run.end).toBeUndefined();
    expect(run.turn(search()).end).toBe("error");
    expect(run.all("error")).toMatchObject([{ reason: "consecutive_errors" }]);
    expectOrder(run.events);
  });
});

// Requirement: RES-5
describe("a stop condition", () => {
  test("of a subtask ends the subtask only", () => {
    const run = stopping({ repeated_turns: 2 }).turn(subtask("a"));
    const [child = ""] = run.subtasks;
    run.turnIn(child, [search()]).result(0, "found", child).turnIn(child, [search()]);
    expect(JSON.parse(run.resultsSeen()[0] ?? "")).toMatchObject({ error: "loop_detected" });
    expect(run.says("sorry").turn().end).toBe("completed");
    expectOrder(run.events);
  });

  test("that completes the run lets a message that arrived be taken up first", () => {
    const run = stopping({ tools: ["search"] });
    const message = { role: Role.USER, text: "wait" };
    run.write({ case: "messageSubmitted", value: { messageId: "m1", message } });
    expect(run.turn(search()).end).toBeUndefined();
    expect(run.prompt().at(-1)).toMatchObject({ role: "user", text: "wait" });
    expect(run.turn(search()).end).toBe("completed");
  });

  test("keeps a valid answer of the same turn, executes no other call of it, and drops an invalid one", () => {
    for (const [n, end] of [
      [4, "completed"],
      ["four", "error"],
    ] as const) {
      const run = typedAndStopping({ content: ["DONE"], tools: ["search"] }).says("DONE");
      run.turn(search(), { name: "finish_subtask", args: { n } });
      expect(run.end).toBe(end);
      expect(started(run)).toBe(0);
      expect(runOf(run.state.head).structuredOutput).toEqual(end === "error" ? undefined : { n });
      expectOrder(run.events);
    }
  });

  test("that is an error keeps a valid answer as well, and lets a message be taken up after it", () => {
    const run = typedAndStopping({ consecutive_errors: 1 }).turn(unknown);
    const message = { role: Role.USER, text: "once more" };
    run.write({ case: "messageSubmitted", value: { messageId: "m1", message } });
    run.turn(search(), { name: "finish_subtask", args: { n: 4 } });
    expect(run.end).toBeUndefined();
    expect(started(run)).toBe(0);
    expect(runOf(run.state.head).structuredOutput).toBeUndefined();
    expect(run.turn({ name: "finish_subtask", args: { n: 5 } }).end).toBe("completed");
    expect(runOf(run.state.head).structuredOutput).toEqual({ n: 5 });
  });

  test("on the last step lets a message that arrived start a limit of its own", () => {
    const run = stopping({ tools: ["search"] }, { maxRounds: 2 });
    run.turn({ name: "list_todos" });
    const message = { role: Role.USER, text: "wait" };
    run.write({ case: "messageSubmitted", value: { messageId: "m1", message } });
    run.turn(search()).turn({ name: "list_todos" });
    expect(run.end).toBeUndefined();
    expect(run.says("done").turn().end).toBe("completed");
  });

  test("counts no calls that people reject, and none that a stop refused", () => {
    const run = stopping(
      { consecutive_errors: 2, tools: ["hand_over"] },
      { hitlTools: ["search"] },
    );
    for (let index = 0; index < 3; index++) {
      run.turn(search(`${index}`)).decides(ApprovalState.REJECTED);
    }
    expect(run.end).toBeUndefined();
    const message = { role: Role.USER, text: "wait" };
    run.write({ case: "messageSubmitted", value: { messageId: "m1", message } });
    run.turn({ name: "hand_over" }, { name: "list_todos" }).turn(unknown);
    run.turn({ name: "list_todos" });
    expect(run.end).toBeUndefined();
  });

  test("is the same for a worker that takes over between the refusals and the end", () => {
    const whole = stopping({ tools: ["search"] }).turn(search());
    const refused = whole.events.findIndex(({ event }) => event.case === "toolResult");
    const copies = copiesOf(whole.events.slice(0, refused + 1));
    const taken = new PlayedRun({}, {}, copies).claimedAnew();
    expect(taken.end).toBe("completed");
  });

  test("compares the calls of the model, also if plugins replace their arguments, for every worker", () => {
    const plugin = { pluginDescriptor: { id: "p", phases: [HookPhase.TOOL_GATE] } };
    const sections = { stop: fromJson(ValueSchema, { repeated_turns: 3 }) };
    const tools = [{ name: "search", source: "builtin", inputSchema: { type: "object" } }];
    const run = new PlayedRun({ sections }, { tools, plugins: [{ plugin }] });
    const rewritten = (query: string) => {
      run.turn(search(query));
      const gate = nextEffects(run.state).find((effect) => effect.kind === "run_hook");
      if (gate === undefined) throw new Error("no gate is due");
      const value = { arguments: { query: "same" } };
      run.hookEnds(gate, { verdict: { case: "rewrite", value } });
    };
    for (const query of ["a", "b", "b"]) {
      rewritten(query);
      const taken = new PlayedRun({}, {}, copiesOf(run.events)).claimedAnew();
      for (const each of [run, taken]) expect(each.result(0).end).toBeUndefined();
    }
    expect(run.turn(search("b")).end).toBe("error");
    expect(run.all("error")).toMatchObject([{ reason: "loop_detected" }]);
  });

  test("is none for an agent without the section", () => {
    const run = new PlayedRun();
    for (let turn = 1; turn <= 5; turn++) run.turn(search()).result(0);
    expect(run.end).toBeUndefined();
  });
});
