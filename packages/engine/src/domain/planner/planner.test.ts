import { ApprovalState } from "@reeve/contracts/approval";
import { Phase } from "@reeve/contracts/run";
import { PermissionClass } from "@reeve/contracts/tool";
import { describe, expect, test } from "vitest";
import { modelOf } from "../model/model-of.ts";
import { nextEffects, openWaits } from "../next-effects.ts";
import { promptFor } from "../model/prompt-for.ts";
import { rootOf } from "../state/run-state.ts";
import { systemPrompt } from "../model/system-prompt.ts";
import { PlayedRun, subtask } from "../../../test/support/run-player.ts";
import { expectOrder } from "../../../test/support/event-order.ts";

const planning = { planningEnabled: true };
const plan = (...steps: readonly string[]) => JSON.stringify({ steps });
const ofRoot = (run: PlayedRun) => promptFor(run.state, rootOf(run.state));

describe("a run that plans", () => {
  // Requirement: CFG-1, PLAN-1, PLAN-8
  test("plans once, after its start and before its first step, in a separate phase", () => {
    const run = new PlayedRun(planning)
      .turn({ name: "search" })
      .result(0)
      .says(plan("look", "tell"))
      .turn();
    expect(run.clientTrace).toEqual([
      "status:starting",
      "usage",
      "toolCall:search",
      "toolResult:ok",
      "text",
      "usage",
      "plan",
      "step:started",
    ]);
    const from = run.events.findIndex(({ event }) => event.case === "modelCallStarted");
    const to = run.events.findIndex(({ event }) => event.case === "step");
    const planner = run.events.slice(from, to);
    expect(
      planner.every(({ phase, stepNumber }) => phase === Phase.PLANNER && stepNumber === 0),
    ).toBe(true);
    expect(run.all("plan")).toMatchObject([{ steps: ["look", "tell"] }]);
    expectOrder(run.says("done").turn().events);
  });

  // Requirement: PLAN-3, PLAN-4
  test("shows the executor the plan once, beside the input, and nothing else of the planner", () => {
    const run = new PlayedRun(planning)
      .turn({ name: "search" })
      .result(0, "a secret")
      .says(plan("look", "tell"))
      .turn();
    expect(run.prompt()).toEqual([
      { role: "user", text: "go", notes: [expect.stringContaining("1. look\n2. tell")] },
    ]);
    run.turn({ name: "search" }).result(0);
    expect(JSON.stringify(run.prompt()).split("1. look")).toHaveLength(2);
  });

  test("keeps it out of the execution tree, and its cost in the one summary", () => {
    const run = new PlayedRun(planning)
      .turn({ name: "search" })
      .result(0)
      .says(plan("look"))
      .turn();
    run.says("done").turn();
    expect(run.all("treeStored")[0]?.tree?.nodes).toEqual([]);
    expect(run.all("costSummary")[0]).toMatchObject({ llmCalls: 3, toolCalls: 1 });
  });

  // Requirement: PLAN-4
  test("has no plan when the planner returns an empty one", () => {
    const run = new PlayedRun(planning).says(plan()).turn();
    expect(run.all("plan")).toMatchObject([{ steps: [] }]);
    expect(run.prompt()).toEqual([{ role: "user", text: "go" }]);
  });

  // Requirement: PLAN-7
  test.each([
    ["gives nothing usable", (run: PlayedRun) => run.says("I would rather not.").turn()],
    ["says nothing", (run: PlayedRun) => run.turn()],
    ["fails", (run: PlayedRun) => run.fails("refused")],
    ["takes too many rounds", (run: PlayedRun) => run.turn({ name: "search" }).result(0)],
  ])("continues without a plan, after an error event, when the planner %s", (_, happens) => {
    const run = happens(new PlayedRun({ ...planning, maxRounds: 1 }));
    expect(run.clientTrace.slice(-2)).toEqual(["error:planner_failed", "step:started"]);
    expect(run.events.find(({ event }) => event.case === "error")?.phase).toBe(Phase.PLANNER);
    expect(run.prompt()).toEqual([{ role: "user", text: "go" }]);
    expectOrder(run.says("done").turn().events);
    expect(run.end).toBe("completed");
  });

  // Requirement: PLAN-2, PLAN-7
  test("ends when the planner exceeds the budget", () => {
    const run = new PlayedRun({ ...planning, budgets: { maxLlmCalls: 1 } });
    run.turn({ name: "search" }).result(0);
    expect(run.clientTrace.slice(-4)).toEqual([
      "budgetExceeded",
      "error:budget_exceeded",
      "costSummary",
      "status:error",
    ]);
    expectOrder(run.events);
  });

  // Requirement: PLAN-2
  test("requests an approval for a tool of the planner that needs it, and can be parked then", () => {
    const run = new PlayedRun({ ...planning, hitlTools: ["search"] }).turn({ name: "search" });
    expect(openWaits(run.state)).toHaveLength(1);
    expect(nextEffects(run.state)).toEqual([]);
    run.parks().decides(ApprovalState.REJECTED).claimedAnew();
    expect(run.resultsSeen()).toEqual(["a person rejected this call: not today"]);
    run.says(plan("ask nicely")).turn();
    expectOrder(run.says("done").turn().events);
  });

  // Requirement: PLAN-2
  test("has a planner with the executor's tools except those that start subtasks", () => {
    const run = new PlayedRun(planning).turn(subtask("a"), {
      name: "memory_write",
      args: { key: "k", value: "v" },
    });
    expect(run.all("toolResult").map(({ success }) => success)).toEqual([false, true]);
    const [first] = run.all("toolResult");
    expect(first?.error).toContain('there is no tool "run_subtask"');
  });

  test("injects a message that arrives during planning into the first step after the plan", () => {
    const run = new PlayedRun(planning).receivesMessage("and quickly").says(plan("look")).turn();
    expect(run.prompt()).toMatchObject([{ text: "go" }, { text: "and quickly" }]);
    expectOrder(run.says("done").turn().events);
  });

  // Requirement: CFG-2, CFG-3, PLAN-5
  test("uses the planning model and instructions for the planner only", () => {
    const run = new PlayedRun(
      { ...planning, planningInstructions: "Be brief.", instructions: "You help." },
      { prepared: { planningModel: { id: "p" } } },
    );
    const planner = run.frame("planner");
    expect(modelOf(run.state, planner)?.id).toBe("p");
    expect(systemPrompt(run.state, planner)).toMatch(/^You help\.\n\nBe brief\./);
    expect(modelOf(run.state, rootOf(run.state))?.id).toBe("m");
    expect(systemPrompt(run.state, rootOf(run.state))).not.toContain("Be brief.");
  });

  test("continues planning when its worker is lost", () => {
    const run = new PlayedRun(planning)
      .turn({ name: "search" })
      .result(0)
      .says("half")
      .claimedAnew();
    expect(run.trace.slice(-3)).toEqual(["runClaimed", "textVoided", "modelCallStarted"]);
    expect(run.resultsSeen()).toEqual(["found"]);
    run.says(plan("look")).turn();
    expectOrder(run.says("done").turn().events);
  });
});

// Requirement: CFG-1, PLAN-6
test("without planning, the other planning fields have no effect", () => {
  const run = new PlayedRun({ planningInstructions: "Be brief.", planningModel: "p" });
  expect(run.clientTrace).toEqual(["status:starting", "step:started"]);
  expect(ofRoot(run)).toEqual([{ role: "user", text: "go" }]);
});

test("a planner whose provider supports no tools has none", () => {
  const run = new PlayedRun(planning, {
    tools: [{ name: "search", permissionClass: PermissionClass.SAFE }],
    prepared: { planningCapabilities: { tools: false } },
  });
  expect([...run.frame("planner").tools.keys()]).toEqual([]);
  expect([...rootOf(run.state).tools.keys()]).toContain("search");
});
