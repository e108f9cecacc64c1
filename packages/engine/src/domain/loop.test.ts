import { create } from "@bufbuild/protobuf";
import { RunEventSchema } from "@reeve/contracts/run";
import { ApprovalState } from "@reeve/contracts/approval";
import { ApprovalStatus, ToolStatus } from "@reeve/contracts/tool";
import { RunStatus } from "@reeve/contracts/run";
import { describe, expect, test } from "vitest";
import { apply, applyAll } from "./state/apply.ts";
import { callsToRelease, nextEffects, openWaits } from "./next-effects.ts";
import { promptFor } from "./model/prompt-for.ts";
import { initialState } from "./state/run-state.ts";
import { PlayedRun, subtask } from "../../test/support/run-player.ts";
import { expectOrder } from "../../test/support/event-order.ts";
import { UnknownEvent } from "./state/unknown-event.ts";

const effects = (run: PlayedRun) => nextEffects(run.state).map(({ kind }) => kind);

describe("a run", () => {
  // Requirement: LOOP-1
  test("with an immediate answer takes one step", () => {
    const run = new PlayedRun().says("hello").turn();
    expect(run.clientTrace).toEqual([
      "status:starting",
      "step:started",
      "text",
      "usage",
      "step:completed",
      "costSummary",
      "status:completed",
    ]);
    expect(effects(run)).toEqual([]);
  });

  test("with a tool round gives the canonical trace", () => {
    const run = new PlayedRun().turn({ name: "search" }).result(0).says("Final answer").turn();
    expect(run.clientTrace).toEqual([
      "status:starting",
      "step:started",
      "usage",
      "toolCall:search",
      "toolResult:ok",
      "step:completed",
      "step:started",
      "text",
      "usage",
      "step:completed",
      "costSummary",
      "status:completed",
    ]);
    expectOrder(run.events);
  });

  // Requirement: LOOP-2
  test("passes results to the model in the order of the calls, whichever arrived first", () => {
    const run = new PlayedRun().turn({ name: "search" }, { name: "search" });
    run.result(1, "second").result(0, "first");
    const contents = promptFor(run.state, run.frame("")).flatMap((m) =>
      m.role === "tool" ? [m.content] : [],
    );
    expect(contents).toEqual(["first", "second"]);
  });

  // Requirement: LOOP-3
  test("reports an unknown tool and unreadable arguments to the model, and runs the sibling", () => {
    const run = new PlayedRun().turn(
      { name: "nothing" },
      { name: "search", args: "{not json" },
      { name: "search" },
    );
    const contents = run.frame().calls.map(({ result }) => result?.content);
    expect(contents).toEqual([
      expect.stringContaining('there is no tool "nothing"; the tools are: search, run_subtask'),
      "the arguments are not a JSON object, or are nested too deeply; call again with a simple JSON object",
      undefined,
    ]);
    expect(effects(run)).toEqual(["call_tool"]);
    expect(run.end).toBeUndefined();
  });

  // Requirement: META-3, LOOP-3
  test("reports arguments that violate the tool's schema to the model", () => {
    const schema = { type: "object", properties: { q: { type: "string" } }, required: ["q"] };
    const run = new PlayedRun({}, { tools: [{ name: "search", inputSchema: schema }] });
    run.turn({ name: "search", args: { q: 7 } });
    expect(
      run.events.findLast(({ event }) => event.case === "toolResult")?.event.value,
    ).toMatchObject({
      success: false,
      error: "the arguments do not fit search: q must be string",
    });
  });

  test("cuts a refusal like any result, however long the tool's name is", () => {
    const run = new PlayedRun({ budgets: { maxResultBytes: 1_000 } });
    const long = "x".repeat(100_000);
    run.turn({ name: long }, subtask("a", { tools: [long] }), { name: "search" });
    const [unknown = "", refused = ""] = run.all("toolResult").map(({ result }) => result?.content);
    expect(unknown.length).toBe(1_000);
    expect(refused.length).toBe(1_000);
    expect(run.result(2).clientTrace.at(-1)).toBe("step:started");
  });

  // Requirement: LOOP-6
  test("ends with an error at the iteration limit", () => {
    const run = new PlayedRun({ maxRounds: 1 }).turn({ name: "search" }).result(0);
    expect(run.clientTrace.slice(-4)).toEqual([
      "step:completed",
      "error:iteration_limit",
      "costSummary",
      "status:error",
    ]);
  });

  test("refuses the calls beyond its budget, then ends", () => {
    const run = new PlayedRun({ budgets: { maxToolCalls: 1 } });
    run.turn({ name: "search" }, { name: "search" });
    expect(run.clientTrace.slice(-6)).toEqual([
      "toolResult:error",
      "toolResult:error",
      "budgetExceeded",
      "error:budget_exceeded",
      "costSummary",
      "status:error",
    ]);
  });

  test("ends when it exceeds its budget of model calls", () => {
    const run = new PlayedRun({ budgets: { maxLlmCalls: 1 } }).turn({ name: "search" }).result(0);
    expect(run.clientTrace.slice(-4)).toEqual([
      "budgetExceeded",
      "error:budget_exceeded",
      "costSummary",
      "status:error",
    ]);
  });

  // Requirement: EVT-6
  test("injects a waiting message before it completes", () => {
    const run = new PlayedRun();
    run.receivesMessage("and then?");
    run.says("one").turn();
    expect(run.clientTrace.slice(-3)).toEqual([
      "step:completed",
      "step:started",
      "messageInjected",
    ]);
    expect(promptFor(run.state, run.frame("")).at(-1)).toEqual({ role: "user", text: "and then?" });
    expect(run.says("two").turn().end).toBe("completed");
  });

  // Requirement: EVT-6, LOOP-6
  test("takes up a message that arrives during its last answer, with a limit of steps of its own", () => {
    const run = new PlayedRun({ maxRounds: 2 }).turn({ name: "search" }).result(0);
    run.receivesMessage("and then?").says("one").turn();
    expect(run.clientTrace.slice(-2)).toEqual(["step:started", "messageInjected"]);
    run.turn({ name: "search" }).result(0).says("two").turn();
    expect(run.end).toBe("completed");
    expectOrder(run.events);
  });

  test("ends at the iteration limit if the work that a message asks for takes too many steps", () => {
    const run = new PlayedRun({ maxRounds: 1 }).receivesMessage("and then?").says("one").turn();
    run.turn({ name: "search" }).result(0);
    expect(run.clientTrace).toContain("error:iteration_limit");
    expect(run.all("error")[0]?.message).toContain("took 1 steps without an answer");
  });

  // Requirement: INJ-2, INJ-3
  test("hides injected arguments from the tool and shows them in the result", () => {
    const run = new PlayedRun({ injectedToolArgs: { origin: "who calls" } });
    run.turn({ name: "search", args: { q: "a", origin: "console" } });
    expect(run.frame().calls[0]?.call).toMatchObject({
      arguments: { q: "a" },
      injectedArgs: { origin: "console" },
    });
    run.result(0);
    const unit = run.frame().units.newest?.value;
    expect(unit?.kind === "turn" && unit.calls[0]?.result?.metadata?.injectedArgs).toEqual({
      origin: "console",
    });
  });
});

function dangerous(): PlayedRun {
  return new PlayedRun({ hitlTools: ["search"] }).turn({ name: "search", args: { q: "a" } });
}

describe("an approval", () => {
  // Requirement: HITL-1
  test("is requested right after the call, and the run only waits", () => {
    const run = dangerous();
    expect(run.clientTrace.slice(-2)).toEqual(["toolCall:search", "approval"]);
    expect(effects(run)).toEqual([]);
    expect(openWaits(run.state)).toHaveLength(1);
  });

  // Requirement: HITL-2, HITL-3, META-1
  test("that is given lets the call run with the arguments that were approved", () => {
    const run = dangerous();
    run.decides(ApprovalState.APPROVED, { edited: { q: "b" } });
    expect(effects(run)).toEqual(["call_tool"]);
    run.result(0);
    expect(run.clientTrace).toContain("toolResult:ok");
    expect(
      run.events.findLast(({ event }) => event.case === "toolResult")?.event.value,
    ).toMatchObject({
      result: { metadata: { approvalStatus: ApprovalStatus.APPROVED } },
    });
  });

  // Requirement: HITL-2
  test.each([
    [ApprovalState.REJECTED, ToolStatus.REJECTED, "a person rejected this call: not today"],
    [ApprovalState.TIMED_OUT, ToolStatus.TIMED_OUT, "nobody approved this call in time"],
  ])(
    "that ends in state %s is reported to the model, and the run continues",
    (state, status, content) => {
      const run = dangerous();
      run.decides(state);
      const result = run.events.findLast(({ event }) => event.case === "toolResult");
      expect(result?.event.value).toMatchObject({ result: { content, metadata: { status } } });
      expect(effects(run)).toEqual(["call_model"]);
    },
  );
});

test("a cancelled run needs no effects, and its open calls are to be released", () => {
  const run = new PlayedRun().turn({ name: "search" });
  run.write(
    { case: "cancelRequested", value: {} },
    { case: "status", value: { status: RunStatus.CANCELLED } },
  );
  expect(effects(run)).toEqual([]);
  expect(callsToRelease(run.state)).toHaveLength(1);
  expect(run.trace.at(-1)).toBe("status:cancelled");
});

test("the state is the fold of the log, wherever it is cut", () => {
  const run = new PlayedRun({ hitlTools: ["search"] }).turn(
    { name: "search" },
    { name: "nothing" },
  );
  run.decides(ApprovalState.REJECTED);
  run.says("done").turn();
  for (let cut = 0; cut <= run.events.length; cut++) {
    const prefix = applyAll(initialState, run.events.slice(0, cut));
    expect(applyAll(prefix, run.events.slice(cut))).toEqual(run.state);
  }
});

// Requirement: EVT-7
test("a log with an event of an unknown kind is not folded", () => {
  const event = create(RunEventSchema, { sequence: 7 });
  expect(() => apply(initialState, event)).toThrow(UnknownEvent);
});
